// Turning fp32 memory into operands of a matrix product.
#pragma once

#include "train/mlx/gemm.h"
#include "train/mlx/parallel.h"
#include "train/mlx/training_kernels.h"

namespace laya::train {

/// Bytes of one operand element.
inline std::size_t operand_size(Precision precision) {
  return precision == Precision::Bf16 ? sizeof(BFloat16) : sizeof(float);
}

/// `src` as the product reads it: itself in fp32, a rounded copy (all threads) in bf16. Lives as
/// long as `src`.
class Operand {
 public:
  Operand(const float* src, std::size_t count, Precision precision) : data_(src) {
    if (precision == Precision::Fp32) return;
    copy_ = AlignedBuffer<BFloat16>(count);
    parallel_ranges(count, 64, [&](std::size_t begin, std::size_t end, std::size_t) {
      kernels().bf16.convert(src + begin, copy_.data() + begin, end - begin);
    });
    data_ = copy_.data();
  }
  const void* data() const { return data_; }

 private:
  const void* data_;
  AlignedBuffer<BFloat16> copy_;
};

/// A weight matrix packed for `product`.
class PackedOperand {
 public:
  PackedOperand() = default;
  PackedOperand(const Gemm& product, const void* b, Layout layout)
      : packed_(product.packed_bytes()) {
    product.pack(b, layout, packed_.data());
  }
  const void* data() const { return packed_.data(); }

 private:
  AlignedBuffer<std::byte> packed_;
};

/// Runs `body` with a value of the operand type (float or BFloat16) that `precision` stands for.
template <typename Body>
void with_operand_type(Precision precision, const Body& body) {
  if (precision == Precision::Bf16) {
    body(BFloat16{});
  } else {
    body(float{});
  }
}

}  // namespace laya::train

// Vectors made ready for products with packed matrices: int8 per group with an fp32 scale and the
// group's sum. Prepared once, used by every matrix that reads the same vector.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "simd/kernels.h"

namespace laya::simd {

/// A buffer for up to `max_columns` vectors of up to `max_length` elements. Allocates in the
/// constructor only. Belongs to one thread while it is set; any number of threads may read view()
/// afterwards.
class Activations {
 public:
  /// max_columns 1..16.
  Activations(std::size_t max_length, std::size_t max_columns);

  /// One vector. `group` is that of the matrices it meets (32, 64, 128), or 0 when all of them are
  /// Fp16 or Fp32. `x` itself is kept by reference for Fp16/Fp32 matrices: it must stay unchanged
  /// until the last product.
  void set(const Kernels& kernels, std::span<const float> x, std::size_t group);

  /// `columns` vectors of `length` elements, vector c at x[c * stride]. 1 <= columns <=
  /// max_columns.
  void set(const Kernels& kernels, std::span<const float> x, std::size_t length,
           std::size_t columns, std::size_t stride, std::size_t group);

  /// set() in parts: announces the vectors; `x` itself is read by Fp16/Fp32 matrices only. Every
  /// part must have been put() before the first product.
  void begin(const Kernels& kernels, std::span<const float> x, std::size_t length,
             std::size_t columns, std::size_t stride, std::size_t group);
  /// Quantises elements [first, first + part.size()) of a column: first is a multiple of the group
  /// (which is not 0), and so is the size unless it ends the vector. Disjoint parts may come from
  /// different threads. False if one of them is NaN or infinite.
  bool put(const Kernels& kernels, std::size_t column, std::size_t first,
           std::span<const float> part);

  const ActivationView& view() const { return view_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  std::size_t max_length_;  // rounded up to the largest group
  std::size_t max_columns_;
  std::unique_ptr<std::byte, Free> memory_;  // codes, twice, and three tables, each 64-byte aligned
  std::int8_t* codes_;
  float* scales_;
  std::int32_t* sums_;
  float* weighted_sums_;
  std::int8_t* row_codes_;
  ActivationView view_;
};

}  // namespace laya::simd

// Matrix products through oneDNN: C [m,n] (fp32) = A · B, operands fp32 or bf16, B packed once and
// used often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/mlx/precision.h"

namespace laya::train {

enum class Layout {
  Normal,      ///< row-major as the product reads it: A [m,k], B [k,n]
  Transposed,  ///< stored the other way round: A [k,m], B [n,k]
};

enum class GemmThreads {
  One,  ///< runs on the calling thread; callable from inside a parallel region
  All,  ///< splits over all OpenMP threads
};

enum class Accumulate { No, Yes };  ///< Yes: C += A · B

enum class Bias { No, Yes };  ///< Yes: C = A · B + bias [n] on every row

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  Layout a = Layout::Normal;
  Precision precision = Precision::Fp32;
  Accumulate accumulate = Accumulate::No;
  Bias bias = Bias::No;
  GemmThreads threads = GemmThreads::All;
  auto operator<=>(const GemmShape&) const = default;
};

/// A compiled product of one shape. Immutable: any number of threads may run() it at once with
/// their own C.
class Gemm {
 public:
  virtual ~Gemm() = default;
  /// Bytes of a packed B, which only this very shape understands.
  virtual std::size_t packed_bytes() const = 0;
  /// Packs B (of the shape's operand type) into `packed`, 64-byte aligned, packed_bytes() long. Not
  /// inside a parallel region.
  virtual void pack(const void* b, Layout layout, void* packed) const = 0;
  /// `bias` [n], null unless the shape has one.
  virtual void run(const void* a, const void* packed_b, float* c,
                   const float* bias = nullptr) const = 0;
};

/// The product for `shape`, compiled on first use (about a millisecond) and kept for the life of
/// the process. Not to be called inside a parallel region. Throws std::runtime_error where oneDNN
/// refuses.
const Gemm& gemm(const GemmShape& shape);

/// How often a product has run since the process started (counted in calls of run(), on whatever
/// thread).
struct GemmUse {
  GemmShape shape;
  std::uint64_t runs = 0;
};

/// All products compiled so far: what a training step is made of is the difference of two of these
/// lists.
std::vector<GemmUse> gemm_uses();

}  // namespace laya::train

// Rows of a foreign tensor as a packed matrix of ours: group by group where both are quantised
// alike (nothing is searched or rounded but scales to fp16), through fp32 otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "format/source_tensor.h"
#include "model/core/aligned_bytes.h"
#include "model/gru/quantize.h"

namespace laya::convert {

/// The precision that holds `tensor` as it is (codes unchanged, scales rounded to fp16), if there
/// is one: Q4_0 ▶ int4/32, Q4_1 and Q4_K ▶ int4/32m, Q5_0 and Q8_0 ▶ int8/32, Q5_1 and Q5_K ▶
/// int8/32m, MLX ▶ int4 or int8 with its group and minima. Nothing for floats and for Q6_K, whose
/// groups of 16 are finer than ours.
std::optional<model::Precision> exact_precision(const format::SourceTensor& tensor);

/// What packing lost: sums over all weights written.
struct RepackLoss {
  double squared_error = 0;    ///< Σ (ours − source)²
  double squared_weights = 0;  ///< Σ source²
  std::uint64_t clamped = 0;   ///< 8-bit codes that had to move by one: ours are 1…255

  double relative() const;
};

/// Row r of the result is row rows[r] of the tensor. Errors: BadArgument (no such row, a precision
/// that cannot be), Corrupt (a weight, scale or minimum that is NaN, infinite or beyond fp16),
/// without the tensor's name: the caller adds it. Memory: 16 rows beside the result.
Result<model::AlignedBytes> repack(const format::SourceTensor& tensor,
                                   std::span<const std::uint32_t> rows,
                                   const model::Precision& precision, RepackLoss& loss);

}  // namespace laya::convert

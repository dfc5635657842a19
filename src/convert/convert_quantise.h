// Four bits where they cost least: scales, minima and codes of a matrix chosen for what it is
// multiplied with, instead of for the weights alone. After Frantar et al. 2022 (GPTQ,
// https://arxiv.org/abs/2210.17323): columns are rounded one after the other, and what rounding one
// loses is made good in those that follow, as far as the inputs go together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/core/aligned_bytes.h"
#include "model/gru/quantize.h"
#include "simd/thread_pool.h"

namespace laya::convert {

/// Beyond so many columns the inputs' correlations are left out (the factorisation takes n³ steps
/// and far more text): columns are then weighted, but not corrected.
inline constexpr std::size_t kMaxCorrelated = 1024;

/// What is known of the inputs of a matrix.
class InputMoments {
 public:
  /// From inputs [tokens, cols].
  InputMoments(std::span<const float> inputs, std::size_t cols, simd::ThreadPool& pool);

  std::size_t cols() const { return weight_.size(); }
  /// How much a lone error in each column costs: the input's second moment, or, where correlations
  /// are known, what of it later columns cannot make good.
  std::span<const float> weight() const { return weight_; }
  /// Row j of the upper triangle U with UᵀU = (XᵀX + λ)⁻¹, from its diagonal on; empty without
  /// correlations.
  std::span<const float> factor(std::size_t j) const {
    return factor_.empty() ? std::span<const float>()
                           : std::span(factor_).subspan(j * cols() + j, cols() - j);
  }

 private:
  void factorise(std::vector<double> moments);

  std::vector<float> weight_;  // [cols]
  std::vector<float> factor_;  // [cols, cols]
};

/// Packs `weights` [rows, cols], cols a multiple of the group, as Int4; on return `weights` are
/// what was packed. Errors: those of simd::pack_codes. Same inputs, same bits.
Result<model::AlignedBytes> quantise_for(const InputMoments& inputs,
                                         const model::Precision& precision, std::size_t rows,
                                         std::span<float> weights, simd::ThreadPool& pool);

}  // namespace laya::convert

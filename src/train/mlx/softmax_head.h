// The softmax head on raw memory: full and sampled heads share it.
#pragma once

#include <cstdint>
#include <span>

#include "train/mlx/precision.h"

namespace laya::train {

struct HeadInput {
  std::size_t tokens = 0, width = 0, classes = 0;  ///< N, e, C
  const float* hidden = nullptr;                   ///< [N,e]
  const float* embedding = nullptr;                ///< [C,e]
  std::span<const float> bias;                     ///< [C]
  std::span<const std::int32_t>
      targets;                 ///< [N], position in the classes; outside [0,C): no loss, nll 0
  std::span<const float> own;  ///< [C] added to the logit of a token's own target; empty: nothing
  std::span<const float> weights;  ///< [N]
  Precision precision = Precision::Fp32;
};

struct HeadOutput {
  float* loss = nullptr;       ///< [1]
  float* token_nll = nullptr;  ///< [N]
  float* dhidden = nullptr;  ///< [N,e]; null: no gradients wanted (the other two are then ignored)
  float* dembedding = nullptr;  ///< [C,e]
  float* dbias = nullptr;       ///< [C]
};

/// Works through the tokens in chunks small enough for the logits to stay in the last-level cache.
void softmax_head(const HeadInput& in, const HeadOutput& out);

}  // namespace laya::train

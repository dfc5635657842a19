// AdamW over fp32 master weights, one fused pass, two threads.
#pragma once

#include <cstdint>
#include <span>

namespace laya::train {

enum class WeightDecay { Apply, Skip };  ///< norms, biases and embeddings skip it

/// One tensor: four arrays of equal length. `gradient` is only read.
struct AdamWSlot {
  std::span<float> value;
  std::span<float> first_moment;
  std::span<float> second_moment;
  std::span<const float> gradient;
  WeightDecay decay = WeightDecay::Apply;
};

struct AdamWStep {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.99F;
  float epsilon = 1e-8F;
  float weight_decay = 0.01F;  ///< decoupled: value -= learning_rate * weight_decay * value
  float max_gradient_norm =
      1.0F;  ///< all gradients together are scaled down to this 2-norm; <= 0: no clipping
  std::int64_t step = 1;  ///< 1 for the first update (bias correction)
};

/// Updates value and moments in place and returns the gradients' 2-norm before clipping. A norm
/// that is not finite leaves everything untouched (the caller sees it in the result). Deterministic
/// for a fixed number of threads. The arrays must be evaluated and in use by nobody else. Source:
/// Loshchilov & Hutter 2019, algorithm 2.
double adamw_step(std::span<const AdamWSlot> slots, const AdamWStep& step);

}  // namespace laya::train

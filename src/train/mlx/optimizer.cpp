#include "train/mlx/optimizer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "train/mlx/parallel.h"
#include "train/mlx/stream_thread.h"
#include "train/mlx/training_kernels.h"

namespace laya::train {
namespace {

double gradient_norm(std::span<const AdamWSlot> slots) {
  std::vector<double> partial(parallel_threads(), 0.0);
  for (const auto& slot : slots) {
    parallel_ranges(
        slot.gradient.size(), 4096, [&](std::size_t begin, std::size_t end, std::size_t thread) {
          partial[thread] += kernels().squared_norm(slot.gradient.data() + begin, end - begin);
        });
  }
  double total = 0.0;
  for (const double x : partial) total += x;
  return std::sqrt(total);
}

double update(std::span<const AdamWSlot> slots, const AdamWStep& step) {
  const double norm = gradient_norm(slots);
  if (!std::isfinite(norm)) return norm;
  TrainingKernels::AdamW p{};
  p.rate = step.learning_rate;
  p.beta1 = step.beta1;
  p.beta2 = step.beta2;
  p.epsilon = step.epsilon;
  const double limit = static_cast<double>(step.max_gradient_norm);
  p.scale = limit > 0.0 && norm > limit ? static_cast<float>(limit / norm) : 1.0F;
  const auto count = static_cast<double>(step.step);
  p.correction1 =
      static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(step.beta1), count)));
  p.correction2 =
      static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(step.beta2), count)));
  for (const auto& slot : slots) {
    p.decay = slot.decay == WeightDecay::Apply ? step.weight_decay : 0.0F;
    parallel_ranges(slot.value.size(), 16, [&](std::size_t begin, std::size_t end, std::size_t) {
      kernels().adamw(slot.value.data() + begin, slot.first_moment.data() + begin,
                      slot.second_moment.data() + begin, slot.gradient.data() + begin, end - begin,
                      p);
    });
  }
  return norm;
}

}  // namespace

double adamw_step(std::span<const AdamWSlot> slots, const AdamWStep& step) {
  double norm = 0.0;
  run_on_stream([&] { norm = update(slots, step); });
  return norm;
}

}  // namespace laya::train

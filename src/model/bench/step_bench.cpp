#include "model/bench/step_bench.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "model/bench/random_model.h"
#include "model/core/aligned_bytes.h"
#include "model/gru/gru_cpu_backend.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

constexpr int kTurns = 5;

double microseconds_since(std::int64_t start_ns) {
  return static_cast<double>(base::monotonic_ns() - start_ns) / 1000.0;
}

double quantile(std::vector<double>& values, double q) {
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

}  // namespace

Result<StepTiming> time_steps(const LanguageModel& model, Threads threads, std::size_t steps) {
  if (steps == 0) {
    return Error{ErrorCode::BadArgument, "time_steps: 0 steps"};
  }
  const GruConfig& config = model.config();
  const auto workspace = model.make_workspace(threads);
  State state(config);
  std::vector<float> scores(config.vocabulary_size);
  AlignedBytes other((model.weights_bytes() + 63) / 64 * 64);
  std::ranges::fill(other.bytes(), std::byte{0x5A});
  const std::size_t cold = std::max<std::size_t>(steps / 10, 1);
  std::vector<double> floor, body, step;
  std::uint64_t checksum = 0;
  TokenId token = 1;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < steps + cold; ++i) {
      const std::int64_t start = base::monotonic_ns();
      checksum += simd::stream_read(simd::best_kernels(), std::as_const(other).bytes());
      if (i >= cold) {
        floor.push_back(microseconds_since(start));
      }
    }
    for (std::size_t i = 0; i < steps + cold; ++i) {
      const std::int64_t start = base::monotonic_ns();
      if (auto status = model.advance(*workspace, state, token); !status) {
        return status.error();
      }
      const double body_us = microseconds_since(start);
      if (auto status = model.logits(*workspace, state.output(), 1, scores); !status) {
        return status.error();
      }
      if (i >= cold) {
        step.push_back(microseconds_since(start));
        body.push_back(body_us);
      }
      token = (token * 31 + 7) % config.vocabulary_size;
    }
  }
  StepTiming timing;
  timing.weights_bytes = model.weights_bytes();
  timing.step_us = quantile(step, 0.5);
  timing.step_p99_us = quantile(step, 0.99);
  timing.body_us = quantile(body, 0.5);
  // The checksum is used so that no compiler may drop the reads.
  timing.floor_us = quantile(floor, 0.5) + (checksum == 1 ? 1e-9 : 0.0);
  return timing;
}

Result<std::unique_ptr<LanguageModel>> random_cpu_model(const GruConfig& config,
                                                        const Precision& precision) {
  if (auto status = config.validate(); !status) {
    return status.error();
  }
  QuantizeRecipe recipe;
  recipe.standard = precision;
  const OwnedFloatWeights weights = random_weights(config, 1);
  auto packed = quantize_weights(config, weights.weights, recipe);
  if (!packed) {
    return packed.error();
  }
  return make_cpu_model(config, std::move(*packed), simd::best_kernels());
}

}  // namespace laya::model

#include "model/bench/step_bench.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
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

namespace {

constexpr std::size_t kCheckedSteps = 12;
constexpr std::size_t kFirstRows = 10;

/// Logits after each of the first kCheckedSteps tokens, [steps, V].
Result<std::vector<float>> logits_of(const LanguageModel& network, Threads threads) {
  const std::size_t size = network.config().vocabulary_size;
  const std::unique_ptr<Workspace> workspace = network.make_workspace(threads);
  State state(network.config());
  std::vector<float> hidden(network.config().embedding_dim);
  std::vector<float> logits(kCheckedSteps * size);
  for (std::size_t i = 0; i < kCheckedSteps; ++i) {
    const auto token = static_cast<TokenId>((i * 2654435761u + 17) % size);
    if (Status s = network.advance(*workspace, state, token, hidden); !s) return s.error();
    if (Status s = network.logits(*workspace, hidden, 1, std::span(logits).subspan(i * size, size));
        !s) {
      return s.error();
    }
  }
  return logits;
}

bool agree(const std::vector<float>& ours, const std::vector<float>& theirs, std::size_t size) {
  for (std::size_t i = 0; i < kCheckedSteps; ++i) {
    const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(i * size);
    const auto best = static_cast<std::size_t>(
        std::max_element(begin, begin + static_cast<std::ptrdiff_t>(size)) - begin);
    const float ours_there = ours[i * size + best];
    std::size_t better = 0;
    for (std::size_t v = 0; v < size; ++v) better += ours[i * size + v] > ours_there ? 1 : 0;
    if (better >= kFirstRows) return false;
  }
  return true;
}

}  // namespace

Status check_same_answers(const LanguageModel& ours, const LanguageModel& theirs) {
  const Result<std::vector<float>> one = logits_of(ours, Threads::One);
  if (!one) return one.error();
  const Result<std::vector<float>> two = logits_of(ours, Threads::Two);
  if (!two) return two.error();
  if (*one != *two) {
    return Error{ErrorCode::Internal, "bench: two threads give another result than one"};
  }
  const Result<std::vector<float>> other = logits_of(theirs, Threads::One);
  if (!other) return other.error();
  if (!agree(*one, *other, ours.config().vocabulary_size)) {
    return Error{ErrorCode::Internal, "bench: the backends " + std::string(ours.backend_name()) +
                                          " and " + std::string(theirs.backend_name()) +
                                          " disagree"};
  }
  return {};
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

#include "laya/bench/bench_steps.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "format/model_file.h"
#include "model/bench/step_bench.h"
#include "model/gru/model_loading.h"

namespace laya::apps {
namespace {

constexpr std::size_t kSteps = 400;
constexpr std::size_t kCheckedSteps = 12;
constexpr std::size_t kMlxSteps = 20;

TokenId token_at(std::size_t i, std::size_t vocabulary_size) {
  return static_cast<TokenId>((i * 2654435761u + 17) % vocabulary_size);
}

/// Logits after each of the first kCheckedSteps tokens, [steps, V].
Result<std::vector<float>> logits_of(const model::LanguageModel& network, model::Threads threads) {
  const std::size_t size = network.config().vocabulary_size;
  const std::unique_ptr<model::Workspace> workspace = network.make_workspace(threads);
  model::State state(network.config());
  std::vector<float> hidden(network.config().embedding_dim);
  std::vector<float> logits(kCheckedSteps * size);
  for (std::size_t i = 0; i < kCheckedSteps; ++i) {
    if (Status s = network.advance(*workspace, state, token_at(i, size), hidden); !s)
      return s.error();
    if (Status s = network.logits(*workspace, hidden, 1, std::span(logits).subspan(i * size, size));
        !s) {
      return s.error();
    }
  }
  return logits;
}

/// The other backend's best row must be among our first ten: quantised weights may swap neighbours.
bool agree(const std::vector<float>& ours, const std::vector<float>& theirs, std::size_t size) {
  for (std::size_t i = 0; i < kCheckedSteps; ++i) {
    const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(i * size);
    const auto best = static_cast<std::size_t>(
        std::max_element(begin, begin + static_cast<std::ptrdiff_t>(size)) - begin);
    const float ours_there = ours[i * size + best];
    std::size_t better = 0;
    for (std::size_t v = 0; v < size; ++v) better += ours[i * size + v] > ours_there ? 1 : 0;
    if (better >= 10) return false;
  }
  return true;
}

Status time_each_step(const model::LanguageModel& network, model::Threads threads,
                      std::size_t steps, observe::LatencyHistogram& histogram) {
  const std::size_t size = network.config().vocabulary_size;
  const std::unique_ptr<model::Workspace> workspace = network.make_workspace(threads);
  model::State state(network.config());
  std::vector<float> hidden(network.config().embedding_dim);
  std::vector<float> logits(size);
  const std::size_t warm_up = std::max<std::size_t>(steps / 10, 3);
  for (std::size_t i = 0; i < warm_up + steps; ++i) {
    const std::int64_t start = base::monotonic_ns();
    if (Status s = network.advance(*workspace, state, token_at(i, size), hidden); !s) return s;
    if (Status s = network.logits(*workspace, hidden, 1, logits); !s) return s;
    if (i >= warm_up) histogram.record(base::monotonic_ns() - start);
  }
  return {};
}

Result<StepFigures> figures_of(const model::LanguageModel& network) {
  const Result<model::StepTiming> one = model::time_steps(network, model::Threads::One);
  if (!one) return one.error();
  const Result<model::StepTiming> two = model::time_steps(network, model::Threads::Two);
  if (!two) return two.error();
  return StepFigures{one->weights_bytes, one->step_us, two->step_us, one->floor_us};
}

Result<StepFigures> random_figures(const model::GruConfig& config, simd::WeightType type) {
  model::Precision precision;
  precision.type = type;
  const Result<std::unique_ptr<model::LanguageModel>> network =
      model::random_cpu_model(config, precision);
  if (!network) return network.error();
  return figures_of(**network);
}

/// 0 where this build has no MLX.
Result<double> mlx_step_us(const format::ModelFile& file, const std::vector<float>& ours) {
  const auto network = model::load_language_model(file, model::Backend::MlxQuantized);
  if (!network) {
    return network.error().code == ErrorCode::Unsupported ? Result<double>(0.0)
                                                          : Result<double>(network.error());
  }
  const Result<std::vector<float>> theirs = logits_of(**network, model::Threads::One);
  if (!theirs) return theirs.error();
  if (!agree(ours, *theirs, (*network)->config().vocabulary_size)) {
    return Error{ErrorCode::Internal, "bench: the mlx and the cpu backend disagree"};
  }
  observe::LatencyHistogram histogram;
  if (Status s = time_each_step(**network, model::Threads::One, kMlxSteps, histogram); !s) {
    return s.error();
  }
  return quantiles_us(histogram).p50;
}

}  // namespace

Result<StepTimes> time_network(const model::LanguageModel& network, const std::string& path,
                               WithMlx with_mlx) {
  StepTimes times;
  times.kernels = network.backend_name();
  const std::size_t size = network.config().vocabulary_size;

  const Result<std::vector<float>> ours = logits_of(network, model::Threads::One);
  if (!ours) return ours.error();
  const Result<std::vector<float>> doubled = logits_of(network, model::Threads::Two);
  if (!doubled) return doubled.error();
  if (*ours != *doubled) {
    return Error{ErrorCode::Internal, "bench: two threads give another result than one"};
  }
  const Result<format::ModelFile> file = format::ModelFile::open(path);
  if (!file) return file.error();
  {
    const auto reference = model::load_language_model(*file, model::Backend::Reference);
    if (!reference) return reference.error();
    const Result<std::vector<float>> exact = logits_of(**reference, model::Threads::One);
    if (!exact) return exact.error();
    if (!agree(*ours, *exact, size)) {
      return Error{ErrorCode::Internal, "bench: the cpu and the reference backend disagree"};
    }
  }

  observe::LatencyHistogram histogram;
  if (Status s = time_each_step(network, model::Threads::One, kSteps, histogram); !s)
    return s.error();
  times.step = quantiles_us(histogram);
  for (const auto& [figures, type] : {std::pair{&times.int8, simd::WeightType::Int8},
                                      std::pair{&times.int4, simd::WeightType::Int4}}) {
    Result<StepFigures> measured = random_figures(network.config(), type);
    if (!measured) return std::move(measured).error();
    *figures = *measured;
  }
  Result<StepFigures> shipped = figures_of(network);
  if (!shipped) return std::move(shipped).error();
  times.shipped = *shipped;
  if (with_mlx == WithMlx::Yes) {
    const Result<double> mlx = mlx_step_us(*file, *ours);
    if (!mlx) return mlx.error();
    times.mlx_us = *mlx;
  }
  return times;
}

}  // namespace laya::apps

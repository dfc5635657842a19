#include "laya/bench/bench_steps.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "format/model_file.h"
#include "model/backends/reference.h"
#include "model/bench/step_bench.h"
#include "model/gru/model_loading.h"

namespace laya::apps {
namespace {

constexpr std::size_t kSteps = 400;

TokenId token_at(std::size_t i, std::size_t vocabulary_size) {
  return static_cast<TokenId>((i * 2654435761u + 17) % vocabulary_size);
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

}  // namespace

Result<StepTimes> time_network(const model::LanguageModel& network, const std::string& path) {
  StepTimes times;
  times.kernels = network.backend_name();
  const Result<format::ModelFile> file = format::ModelFile::open(path);
  if (!file) return file.error();
  {
    const auto reference = model::load_language_model(*file, model::reference_backend());
    if (!reference) return reference.error();
    if (Status same = model::check_same_answers(network, **reference); !same) return same.error();
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
  return times;
}

}  // namespace laya::apps

#include "laya/bench/bench_decision.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/allocation_counter.h"
#include "base/clock.h"
#include "common/scratch_folder.h"
#include "eval/quantile.h"
#include "format/model_file.h"
#include "model/core/aligned_bytes.h"
#include "model/core/split_mix.h"
#include "model/decision/decision_model.h"
#include "model/decision/decision_quantize.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::apps {
namespace {

constexpr std::size_t kTurns = 5;
constexpr std::size_t kColdCalls = 20;

struct BenchDecisionOptions {
  std::string model;
  std::size_t decisions = 2000;
  bool json = false;
};

/// One row of the report.
struct Timing {
  std::string name;
  std::string precision;
  std::uint64_t parameters = 0;
  std::size_t weights_bytes = 0;
  double p50_us = 0, p99_us = 0;
  double floor_us = 0;  ///< reading weights_bytes once, in turn with the decisions
  std::uint64_t allocations = 0;
};

double microseconds_since(std::int64_t start_ns) {
  return static_cast<double>(base::monotonic_ns() - start_ns) / 1000.0;
}

/// Asks one model random questions, always the same ones.
class Questions {
 public:
  Questions(const model::DecisionModel& model, std::size_t candidates)
      : model_(model),
        workspace_(model.make_workspace()),
        ranks_(model.config().kind == model::DecisionKind::Ranker),
        answer_(ranks_ ? candidates : model.config().actions) {
    const std::size_t size =
        ranks_ ? candidates * model.config().features.size() : model.config().window;
    for (std::size_t i = 0; i < kDifferent * size; ++i) {
      features_.push_back(2.0F * random_.next());
      tokens_.push_back(static_cast<TokenId>(random_.unit() * model.config().vocabulary_size));
    }
  }

  Status ask(std::size_t i) {
    const std::size_t size = features_.size() / kDifferent, at = i % kDifferent * size;
    return ranks_ ? model_.scores(*workspace_, std::span(features_).subspan(at, size), answer_)
                  : model_.logits(*workspace_, std::span(tokens_).subspan(at, size), answer_);
  }

  /// That the answers are those of the plain loops over the same weights.
  Status check(const model::DecisionWeights& weights) {
    const std::size_t size = features_.size() / kDifferent;
    std::vector<float> exact(answer_.size());
    for (std::size_t i = 0; i < 3; ++i) {
      if (Status status = ask(i); !status) return status;
      const Status plain =
          ranks_ ? model::reference_scores(model_.config(), weights,
                                           std::span(features_).subspan(i * size, size), exact)
                 : model::reference_logits(model_.config(), weights,
                                           std::span(tokens_).subspan(i * size, size), exact);
      if (!plain) return plain;
      for (std::size_t a = 0; a < exact.size(); ++a) {
        // Int8 activations cost up to some hundredths of an answer of size 1.
        if (!(std::abs(exact[a] - answer_[a]) <= 0.1F * (1.0F + std::abs(exact[a])))) {
          return Error{ErrorCode::Internal,
                       "bench decision: the answer is not that of the reference"};
        }
      }
    }
    return {};
  }

 private:
  static constexpr std::size_t kDifferent = 8;

  const model::DecisionModel& model_;
  std::unique_ptr<model::Workspace> workspace_;
  bool ranks_;
  model::SplitMix random_{11};
  std::vector<float> features_;
  std::vector<TokenId> tokens_;
  std::vector<float> answer_;
};

Result<Timing> time_model(const std::string& path, std::size_t candidates, std::size_t decisions) {
  auto file = format::ModelFile::open(path);
  if (!file) return file.error();
  const auto config = model::read_decision_config(*file);
  if (!config) return config.error();
  const auto weights = model::load_decision_weights(*file, *config);
  if (!weights) return weights.error();
  const auto model = model::DecisionModel::load(std::move(*file));
  if (!model) return model.error();
  Questions questions(**model, candidates);
  if (Status status = questions.check(*weights); !status) return status.error();

  Timing timing;
  timing.parameters = config->parameter_count();
  timing.weights_bytes = (*model)->weights_bytes();
  model::AlignedBytes other((timing.weights_bytes + 63) / 64 * 64);
  std::ranges::fill(other.bytes(), std::byte{0x5A});
  std::vector<double> times, floor;
  times.reserve(decisions + kTurns);
  floor.reserve(decisions + kTurns);
  std::uint64_t checksum = 0;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < kColdCalls + decisions / kTurns; ++i) {
      const std::int64_t start = base::monotonic_ns();
      checksum += simd::stream_read(simd::best_kernels(), std::as_const(other).bytes());
      if (i >= kColdCalls) floor.push_back(microseconds_since(start));
    }
    const base::AllocationScope scope;
    for (std::size_t i = 0; i < kColdCalls + decisions / kTurns; ++i) {
      const std::int64_t start = base::monotonic_ns();
      if (Status status = questions.ask(i); !status) return status.error();
      if (i >= kColdCalls) times.push_back(microseconds_since(start));
    }
    timing.allocations += scope.count();
  }
  timing.p50_us = eval::quantile(times, 0.5);
  timing.p99_us = eval::quantile(times, 0.99);
  // The checksum is used so that no compiler may drop the reads.
  timing.floor_us = eval::quantile(floor, 0.5) + (checksum == 1 ? 1e-9 : 0.0);
  return timing;
}

struct Shape {
  const char* name;
  model::DecisionConfig config;
  std::size_t candidates;
};

/// What DECISION.md recommends each kind for; random weights, since speed does not depend on them.
std::vector<Shape> usual_shapes() {
  std::vector<std::string> features;
  for (int i = 0; i < 32; ++i) features.push_back("feature_" + std::to_string(i));
  const model::DecisionConfig ranker = model::default_ranker_config(features);
  const model::DecisionConfig mlp = model::default_windowed_mlp_config(16384, 4);
  const model::DecisionConfig one = model::default_transformer_config(16384, 4);
  model::DecisionConfig two = one;
  two.layers = 2;
  return {{"ranker, 32 features, 12 candidates", ranker, 12},
          {"ranker, 32 features, 64 candidates", ranker, 64},
          {"windowed MLP, 8 tokens, 4 actions", mlp, 0},
          {"transformer, 1 layer, 8 tokens", one, 0},
          {"transformer, 2 layers, 8 tokens", two, 0}};
}

Result<std::vector<Timing>> time_usual_shapes(std::size_t decisions) {
  const ScratchFolder scratch;
  if (scratch.path().empty()) {
    return Error{ErrorCode::Io, "bench decision: no folder can be made in the temporary folder"};
  }
  std::vector<Timing> timings;
  const std::string exact = scratch.file("exact.laya"), small = scratch.file("small.laya");
  for (const Shape& shape : usual_shapes()) {
    if (Status status = model::write_decision_model(
            exact, shape.config, model::random_decision_weights(shape.config, 1), "");
        !status) {
      return status.error();
    }
    for (const char* precision : {"fp32", "int8/32", "int4/32"}) {
      model::QuantizeRecipe recipe;
      const auto parsed = model::parse_precision(precision);
      if (!parsed) return parsed.error();
      recipe.standard = *parsed;
      const auto file = format::ModelFile::open(exact);
      if (!file) return file.error();
      if (Status status = model::quantize_decision_file(*file, small, recipe); !status) {
        return status.error();
      }
      Result<Timing> timing = time_model(small, shape.candidates, decisions);
      if (!timing) return timing.error();
      timing->name = shape.name;
      timing->precision = precision;
      timings.push_back(std::move(*timing));
    }
  }
  return timings;
}

Result<std::vector<Timing>> time_file(const std::string& path, std::size_t decisions) {
  const auto file = format::ModelFile::open(path);
  if (!file) return file.error();
  const auto config = model::read_decision_config(*file);
  if (!config) return config.error();
  std::vector<Timing> timings;
  const bool ranks = config->kind == model::DecisionKind::Ranker;
  for (const std::size_t candidates :
       ranks ? std::vector<std::size_t>{12, 64} : std::vector<std::size_t>{0}) {
    Result<Timing> timing = time_model(path, candidates, decisions);
    if (!timing) return timing.error();
    timing->name = std::string(model::decision_kind_name(config->kind)) +
                   (ranks ? ", " + std::to_string(candidates) + " candidates" : "");
    timing->precision = "as stored";
    timings.push_back(std::move(*timing));
  }
  return timings;
}

void bench_decision(const BenchDecisionOptions& options, Outcome& outcome) {
  const Result<std::vector<Timing>> timings = options.model.empty()
                                                  ? time_usual_shapes(options.decisions)
                                                  : time_file(options.model, options.decisions);
  if (!timings) return fail(outcome, timings.error());
  const char* kernels = simd::best_kernels().name;
  if (options.json) {
    nlohmann::ordered_json json = {{"kernels", kernels}};
    json["decisions"] = nlohmann::ordered_json::array();
    for (const Timing& t : *timings) {
      json["decisions"].push_back({{"name", t.name},
                                   {"precision", t.precision},
                                   {"parameters", t.parameters},
                                   {"weights_bytes", t.weights_bytes},
                                   {"us", {{"p50", t.p50_us}, {"p99", t.p99_us}}},
                                   {"stream_floor_us", t.floor_us},
                                   {"allocations_after_warmup", t.allocations}});
    }
    std::cout << to_line(json) << std::endl;
    return;
  }
  std::printf("one decision, one thread, %-24s  weights       p50       p99     floor\n", kernels);
  for (const Timing& t : *timings) {
    std::printf("  %-36s %-9s %9.1f KB %6.1f µs %6.1f µs %6.2f µs%s\n", t.name.c_str(),
                t.precision.c_str(), static_cast<double>(t.weights_bytes) / 1e3, t.p50_us, t.p99_us,
                t.floor_us, t.allocations == 0 ? "" : "  ALLOCATES");
  }
}

}  // namespace

void add_bench_decision_command(CLI::App& bench, Outcome& outcome) {
  const auto options = std::make_shared<BenchDecisionOptions>();
  CLI::App* command = bench.add_subcommand(
      "decision", "time of a small decision: rankers, windowed MLPs, small transformers");
  command->add_option("model", options->model,
                      "a decision model (default: the usual shapes with random weights)");
  command->add_option("--decisions", options->decisions, "how many are timed, of each model")
      ->check(CLI::Range(std::size_t{100}, std::size_t{10000000}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON object on one line");
  command->footer(
      "floor: reading the weights once, in turn with the decisions. Answers are compared with the "
      "reference's first.\n"
      "example: laya bench decision\n"
      "         laya bench decision ranker.laya --json");
  command->callback([options, &outcome] { bench_decision(*options, outcome); });
}

}  // namespace laya::apps

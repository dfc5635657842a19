#include "train/gru/bench_train.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>

#include "model/gru/gru_config.h"
#include "train/gru/gru_carry.h"
#include "train/gru/gru_model.h"
#include "train/mlx/gemm.h"
#include "train/mlx/memory.h"
#include "train/mlx/operand.h"
#include "train/mlx/optimizer.h"
#include "train/mlx/parallel.h"
#include "train/mlx/stream_thread.h"
#include "train/mlx/training_kernels.h"
#include "train/text/random.h"

namespace laya::train {
namespace {

using Clock = std::chrono::steady_clock;
using Uses = std::map<GemmShape, std::uint64_t>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double flop(const GemmShape& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

// Zipf's law: the sampled head's cost depends on how many different targets a batch holds.
std::vector<double> word_counts(std::size_t vocabulary) {
  std::vector<double> counts(vocabulary);
  for (std::size_t i = 0; i < vocabulary; ++i) counts[i] = 1e6 / static_cast<double>(i + 5);
  return counts;
}

Batch random_batch(std::span<const double> counts, const BenchTrainOptions& options) {
  std::vector<double> cumulative(counts.begin(), counts.end());
  for (std::size_t i = 1; i < cumulative.size(); ++i) cumulative[i] += cumulative[i - 1];
  Random random(1);
  const auto draw = [&] {
    const double at = random.uniform() * cumulative.back();
    const auto found =
        std::upper_bound(cumulative.begin(), cumulative.end(), at) - cumulative.begin();
    return static_cast<std::int32_t>(std::min<std::ptrdiff_t>(found, std::ssize(cumulative) - 1));
  };
  Batch batch;
  batch.steps = options.steps;
  batch.lanes = options.batch;
  for (std::size_t i = 0; i < std::size_t{options.steps} * options.batch; ++i) {
    batch.inputs.push_back(draw());
    batch.targets.push_back(draw());
  }
  return batch;
}

class Run {
 public:
  Run(const BenchTrainOptions& options, HeadKind head)
      : parameters_(model::default_gru_config()),
        counts_(word_counts(parameters_.config().vocabulary_size)),
        sampler_(counts_, options.candidates),
        batch_(random_batch(counts_, options)),
        carry_(GruCarry::zero(parameters_.config(), options.batch)) {
    parameters_.initialise(1, counts_);
    step_.precision = options.precision;
    step_.head = head;
    step_.sampler = &sampler_;
  }

  /// One update; returns its seconds.
  Result<double> step() {
    const auto start = Clock::now();
    if (Status s = gru_step(parameters_, batch_, step_, carry_, result_); !s) return s.error();
    std::vector<AdamWSlot> slots;
    auto& tensors = parameters_.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      auto& t = tensors[i];
      slots.push_back({t.value, t.first_moment, t.second_moment, result_.gradients[i], t.decay});
    }
    update_.step += 1;
    adamw_step(slots, update_);
    return seconds_since(start);
  }

  std::size_t parameter_count() const { return parameters_.count(); }

 private:
  GruParameters parameters_;
  std::vector<double> counts_;
  CandidateSampler sampler_;
  Batch batch_;
  GruCarry carry_;
  StepOptions step_;
  StepResult result_;
  AdamWStep update_{.step = 0};
};

Uses counted() {
  Uses uses;
  for (const GemmUse& use : gemm_uses()) uses[use.shape] = use.runs;
  return uses;
}

Uses difference(const Uses& before, const Uses& after) {
  Uses out;
  for (const auto& [shape, runs] : after) {
    const auto found = before.find(shape);
    const std::uint64_t own = runs - (found == before.end() ? 0 : found->second);
    if (own > 0) out[shape] = own;
  }
  return out;
}

// Ordinary numbers, not zeros: the time of a multiplication may depend on denormals, never on much
// else.
AlignedBuffer<std::byte> operand(std::size_t count, Precision precision) {
  AlignedBuffer<std::byte> memory(count * operand_size(precision));
  AlignedBuffer<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) * 0.125F - 1.0F;
  with_operand_type(precision, [&](auto type) {
    using T = decltype(type);
    kernels().of<T>().convert(values.data(), reinterpret_cast<T*>(memory.data()), count);
  });
  return memory;
}

// One product with its own memory, ready to be timed.
class Alone {
 public:
  explicit Alone(const GemmShape& shape)
      : shape_(shape),
        product_(gemm(shape)),
        lanes_(shape.threads == GemmThreads::One ? parallel_threads() : 1) {
    const auto size = [](std::int64_t x, std::int64_t y) {
      return static_cast<std::size_t>(x) * static_cast<std::size_t>(y);
    };
    a_ = operand(size(shape.m, shape.k), shape.precision);
    const auto b = operand(size(shape.k, shape.n), shape.precision);
    packed_ = PackedOperand(product_, b.data(), Layout::Normal);
    if (shape.bias == Bias::Yes) {
      bias_ = AlignedBuffer<float>(static_cast<std::size_t>(shape.n));
      std::fill_n(bias_.data(), bias_.size(), 0.5F);
    }
    for (std::size_t i = 0; i < lanes_; ++i) {
      c_.emplace_back(size(shape.m, shape.n));
      std::fill_n(c_.back().data(), c_.back().size(), 0.0F);
    }
  }

  /// Seconds a call with all threads busy: where each thread has its own product, the time of one
  /// round over their number.
  double time() {
    const int calls = std::max(1, static_cast<int>(2e9 / flop(shape_)));
    const auto start = Clock::now();
    if (shape_.threads == GemmThreads::All) {
      for (int i = 0; i < calls; ++i)
        product_.run(a_.data(), packed_.data(), c_[0].data(), bias_.data());
    } else {
      parallel_ranges(lanes_, 1, [&](std::size_t begin, std::size_t, std::size_t) {
        for (int i = 0; i < calls; ++i)
          product_.run(a_.data(), packed_.data(), c_[begin].data(), bias_.data());
      });
    }
    return seconds_since(start) / (static_cast<double>(calls) * static_cast<double>(lanes_));
  }

 private:
  GemmShape shape_;
  const Gemm& product_;
  std::size_t lanes_;
  AlignedBuffer<std::byte> a_;
  PackedOperand packed_;
  AlignedBuffer<float> bias_;
  std::vector<AlignedBuffer<float>> c_;
};

std::string name_of(const GemmShape& s) {
  std::string name = std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
  if (s.a == Layout::Transposed) name += " t";
  if (s.accumulate == Accumulate::Yes) name += " +";
  if (s.bias == Bias::Yes) name += " b";
  if (s.threads == GemmThreads::One) name += " 1";
  return name;
}

Result<BenchHead> bench_head(const BenchTrainOptions& options, HeadKind head,
                             std::size_t& parameters) {
  Run run(options, head);
  parameters = run.parameter_count();
  if (auto warm = run.step(); !warm) return warm.error();
  const Uses before = counted();
  if (auto second = run.step(); !second) return second.error();
  const Uses step = difference(before, counted());

  // A step and a round of the products in turn, so that both see the same neighbours on the
  // machine.
  std::map<GemmShape, Alone> alone;
  for (const auto& [shape, runs] : step) alone.emplace(shape, shape);
  std::vector<double> step_seconds;
  std::map<GemmShape, std::vector<double>> product_seconds;
  for (std::size_t i = 0; i < options.repeats; ++i) {
    auto seconds = run.step();
    if (!seconds) return seconds.error();
    step_seconds.push_back(*seconds);
    run_on_stream([&] {
      for (auto& [shape, product] : alone) product_seconds[shape].push_back(product.time());
    });
  }

  BenchHead out;
  out.name = head == HeadKind::Full ? "full" : "sampled";
  const double seconds = median(step_seconds);
  double products = 0.0;
  for (const auto& [shape, runs] : step) {
    const double each = median(product_seconds[shape]);
    products += each * static_cast<double>(runs);
    const double gflop = flop(shape) * static_cast<double>(runs) * 1e-9;
    out.products.push_back({name_of(shape), runs, gflop, flop(shape) / each * 1e-9});
    out.gflop += gflop;
  }
  out.step_ms = seconds * 1e3;
  out.tokens_per_second =
      static_cast<double>(options.steps) * static_cast<double>(options.batch) / seconds;
  out.gflops = out.gflop / seconds;
  out.onednn_gflops = out.gflop / products;
  out.ratio = products / seconds;
  return out;
}

}  // namespace

Result<BenchTrainReport> bench_train(const BenchTrainOptions& options) {
  if (options.steps == 0 || options.batch == 0 || options.repeats == 0 || options.candidates == 0) {
    return Error{ErrorCode::BadArgument,
                 "bench train: steps, batch, candidates and repeats must be at least 1"};
  }
  keep_freed_memory();
  BenchTrainReport report;
  report.arithmetic = options.precision == Precision::Bf16 ? "bf16" : "fp32";
  report.threads = parallel_threads();
  try {
    for (const HeadKind head : {HeadKind::Full, HeadKind::Sampled}) {
      auto result = bench_head(options, head, report.parameters);
      if (!result) return result.error();
      report.heads.push_back(std::move(*result));
    }
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string("bench train: ") + error.what()};
  }
  return report;
}

std::string format_report(const BenchTrainReport& report) {
  std::string out;
  char line[160];
  const auto add = [&](auto... values) {
    std::snprintf(line, sizeof line, values...);
    out += line;
  };
  add("training, %s, %zu threads, %.1f M parameters\n", report.arithmetic.c_str(), report.threads,
      static_cast<double>(report.parameters) * 1e-6);
  add("%-8s %10s %10s %12s %12s %16s %7s\n", "head", "step ms", "tokens/s", "GFLOP/step", "GFLOP/s",
      "oneDNN GFLOP/s", "ratio");
  for (const BenchHead& head : report.heads) {
    add("%-8s %10.1f %10.0f %12.1f %12.1f %16.1f %7.2f\n", head.name.c_str(), head.step_ms,
        head.tokens_per_second, head.gflop, head.gflops, head.onednn_gflops, head.ratio);
  }
  for (const BenchHead& head : report.heads) {
    add("products of a step, %s head (t: A transposed, +: added to C, b: with bias, 1: one thread "
        "each)\n",
        head.name.c_str());
    for (const BenchProduct& product : head.products) {
      add("  %-24s %6llu runs %8.2f GFLOP %8.1f GFLOP/s alone\n", product.name.c_str(),
          static_cast<unsigned long long>(product.runs), product.gflop, product.gflops);
    }
  }
  return out;
}

}  // namespace laya::train

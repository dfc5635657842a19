#include "laya/bench/bench_decoder.h"

#include <array>
#include <cstdio>
#include <iostream>
#include <memory>

#include "common/scratch_folder.h"
#include "format/model_file.h"
#include "model/backends/cpu.h"
#include "model/bench/decoder_bench.h"
#include "model/bench/random_decoder.h"
#include "model/decoder/decoder_loading.h"

namespace laya::apps {
namespace {

struct BenchDecoderOptions {
  std::size_t turns = 5;
  bool json = false;
};

struct Report {
  std::uint64_t parameters = 0;
  std::string kernels;
  model::DecoderTiming one;
  model::DecoderTiming two;
};

std::uint64_t parameters_of(const model::DecoderConfig& c) {
  const std::uint64_t d = c.hidden_dim;
  const std::uint64_t q = std::uint64_t{c.heads} * c.head_dim;
  return d * c.vocabulary_size + c.layers * (2 * d * q + 2 * d * c.kv_dim() + 3 * d * c.ffn_dim);
}

Result<Report> measure(const BenchDecoderOptions& options) {
  const ScratchFolder folder;
  if (folder.path().empty()) {
    return Error{ErrorCode::Io, "bench: no folder can be made in $TMPDIR"};
  }
  const model::DecoderConfig shape = model::small_decoder_shape();
  const std::string path = folder.file("random.laya");
  const model::Precision int4{simd::WeightType::Int4, 32, simd::Minima::PerGroup};
  if (Status s = model::write_random_decoder(path, model::DecoderFamily::Llama, shape, int4); !s) {
    return s.error();
  }
  const Result<format::ModelFile> file = format::ModelFile::open(path);
  if (!file) return file.error();
  const auto decoder = model::load_decoder(*file, model::cpu_backend());
  if (!decoder) return decoder.error();
  Report report;
  report.parameters = parameters_of(shape);
  report.kernels = (*decoder)->backend_name();
  for (const model::Threads threads : {model::Threads::One, model::Threads::Two}) {
    model::DecoderBenchOptions bench;
    bench.threads = threads;
    bench.turns = options.turns;
    const Result<model::DecoderTiming> timing = model::time_decoder(**decoder, bench);
    if (!timing) return timing.error();
    (threads == model::Threads::One ? report.one : report.two) = *timing;
  }
  return report;
}

nlohmann::ordered_json to_json(const model::DecoderTiming& t) {
  return {{"token_us", t.token_us},
          {"stream_floor_us", t.floor_us},
          {"over_floor", t.ratio()},
          {"columns8_us", t.columns8_us},
          {"prefill64_us", t.prefill64_us}};
}

void print(int threads, const model::DecoderTiming& t) {
  std::printf(
      "  %d thread%s  one token %6.3f ms = %.2f x floor (%.1f MB in %.3f ms); 8 columns %.2f x "
      "one; "
      "64 read in %.2f ms\n",
      threads, threads == 1 ? " " : "s", t.token_us / 1000, t.ratio(),
      static_cast<double>(t.weights_bytes) / 1e6, t.floor_us / 1000, t.columns8_us / t.token_us,
      t.prefill64_us / 1000);
}

void bench_decoder(const BenchDecoderOptions& options, Outcome& outcome) {
  const Result<Report> report = measure(options);
  if (!report) return fail(outcome, report.error());
  if (options.json) {
    std::cout << to_line({{"parameters", report->parameters},
                          {"weights_bytes", report->one.weights_bytes},
                          {"kernels", report->kernels},
                          {"one_thread", to_json(report->one)},
                          {"two_threads", to_json(report->two)}})
              << std::endl;
    return;
  }
  std::printf("a decoder of %.1f M parameters, int4 with minima in groups of 32 (%s)\n",
              static_cast<double>(report->parameters) / 1e6, report->kernels.c_str());
  print(1, report->one);
  print(2, report->two);
}

}  // namespace

void add_bench_decoder_command(CLI::App& bench, Outcome& outcome) {
  const auto options = std::make_shared<BenchDecoderOptions>();
  CLI::App* command = bench.add_subcommand(
      "decoder", "time of a token of a 25 M decoder (random weights: speed depends on the shape)");
  command->add_option("--turns", options->turns, "how often each figure is taken, in turns")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON object on one line");
  command->footer(
      "Llama: 12 layers, d 384, 6 heads (2 for keys), ffn 1024, 16,384 tokens, tied. A token is "
      "one "
      "column after\n"
      "64 of context, and all its logits; floor: reading as many bytes once, in turn with it.\n"
      "example: laya bench decoder\n"
      "         laya bench decoder --json | jq .one_thread.token_us");
  command->callback([options, &outcome] { bench_decoder(*options, outcome); });
}

}  // namespace laya::apps

#include "laya/bench/bench_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "base/child_process.h"
#include "base/clock.h"
#include "common/model_options.h"
#include "laya/bench/bench_decision.h"
#include "laya/bench/bench_decoder.h"
#include "laya/bench/bench_deep.h"
#include "laya/bench/bench_keys.h"
#include "laya/bench/bench_sessions.h"
#include "laya/bench/bench_steps.h"
#include "laya/training_program.h"
#include "observe/memory_figures.h"
#include "setup/data_files.h"

namespace laya::apps {
namespace {

struct BenchOptions {
  setup::ModelOptions model;
  std::string file;
  std::size_t stream_tokens = 1000;
  bool json = false;
};

struct Report {
  KeyTimes keys;
  SessionTimes sessions;
  StepTimes steps;
  std::optional<DeepReport> deep;  ///< none without a decoder
  double start_us = 0;
  double rss_mb = 0;
  double peak_rss_mb = 0;
};

/// Process start to first candidate: this program's own `complete`, cold start included, pages
/// warm. The median of five.
Result<double> time_start(const predict::EnginePaths& paths) {
  std::error_code error;
  base::ChildOptions options;
  options.arguments = {"/proc/self/exe", "complete", "--context", "see you tom", "-n", "1",
                       "--no-warm-up",   "--deep",   "none"};
  for (const std::string& path : {paths.network_path, paths.ngram_path}) {
    if (!path.empty()) {
      options.arguments.insert(options.arguments.end(),
                               {"--model", std::filesystem::absolute(path, error).string()});
    }
  }
  options.environment = base::environment_with({});

  std::vector<double> times;
  for (int run = 0; run < 6; ++run) {
    const std::int64_t start = base::monotonic_ns();
    const Result<pid_t> child = base::start_child(options);
    if (!child || base::wait_for_child(*child) != 0) {
      return Error{ErrorCode::Internal, "bench: laya complete could not be run"};
    }
    if (run > 0) times.push_back(static_cast<double>(base::monotonic_ns() - start) / 1000);
  }
  std::nth_element(times.begin(), times.begin() + 2, times.end());
  return times[2];
}

nlohmann::ordered_json to_json(const Quantiles& q) {
  return {{"p50", q.p50}, {"p95", q.p95}, {"p99", q.p99}, {"max", q.max}};
}

nlohmann::ordered_json to_json(const StepFigures& figures) {
  return {{"weights_bytes", figures.weights_bytes},
          {"step_us", figures.step_us},
          {"two_threads_us", figures.two_threads_us},
          {"stream_floor_us", figures.floor_us},
          {"over_floor", figures.step_us / figures.floor_us}};
}

nlohmann::ordered_json to_json(const Report& report) {
  const StepTimes& steps = report.steps;
  nlohmann::ordered_json json = {{"step_us", to_json(steps.step)},
                                 {"candidates_us", to_json(report.keys.candidates)},
                                 {"ghost_us", to_json(report.keys.ghost)},
                                 {"weights_bytes", steps.shipped.weights_bytes},
                                 {"stream_floor_us", steps.shipped.floor_us},
                                 {"start_us", report.start_us},
                                 {"rss_mb", report.rss_mb},
                                 {"peak_rss_mb", report.peak_rss_mb},
                                 {"allocations_after_warmup", report.keys.allocations},
                                 {"key_us", to_json(report.keys.key)},
                                 {"edit_us", to_json(report.keys.edit)},
                                 {"tokenise_us", to_json(report.keys.tokenise)},
                                 {"session_bytes", report.sessions.bytes_each},
                                 {"session_text_bytes", report.sessions.text_bytes},
                                 {"session_cold_us", to_json(report.sessions.cold)},
                                 {"session_back_us", to_json(report.sessions.back)},
                                 {"keys", report.keys.keys},
                                 {"kernels", steps.kernels},
                                 {"shipped", to_json(steps.shipped)},
                                 {"int8", to_json(steps.int8)},
                                 {"int4", to_json(steps.int4)}};
  json["deep"] = report.deep ? to_json(*report.deep) : nlohmann::ordered_json(nullptr);
  return json;
}

void print_row(const char* name, const Quantiles& q) {
  std::printf("  %-26s %9.1f %9.1f %9.1f %9.1f\n", name, q.p50, q.p95, q.p99, q.max);
}

void print_steps(const char* name, const StepFigures& f) {
  std::printf("  %-10s %6.2f MiB %9.1f µs   floor %7.1f µs   %.2f x floor   two threads %7.1f µs\n",
              name, static_cast<double>(f.weights_bytes) / (1 << 20), f.step_us, f.floor_us,
              f.step_us / f.floor_us, f.two_threads_us);
}

void print(const Report& report) {
  std::printf("µs over %llu keys                   p50       p95       p99       max\n",
              static_cast<unsigned long long>(report.keys.keys));
  print_row("edit", report.keys.edit);
  print_row("  of it: tokenise", report.keys.tokenise);
  print_row("edit to 5 candidates", report.keys.candidates);
  print_row("ghost", report.keys.ghost);
  print_row("edit to list and ghost", report.keys.key);
  print_row("a text of its own, unread", report.sessions.cold);
  print_row("back to a text", report.sessions.back);
  if (report.steps.shipped.weights_bytes > 0) {
    print_row("one step, all logits", report.steps.step);
    std::printf("\none step, all logits, against reading its weights once (%s)\n",
                report.steps.kernels.c_str());
    print_steps("shipped", report.steps.shipped);
    print_steps("int8", report.steps.int8);
    print_steps("int4", report.steps.int4);
  }
  std::printf(
      "\nprocess start to first candidate %.1f ms; resident %.1f MB; allocations after warm-up "
      "%llu\n",
      report.start_us / 1000, report.rss_mb,
      static_cast<unsigned long long>(report.keys.allocations));
  std::printf("%zu open sessions: %.1f KB each; texts of %zu bytes\n", report.sessions.open,
              report.sessions.bytes_each / 1e3, report.sessions.text_bytes);
  if (report.deep) {
    print(*report.deep);
  } else {
    std::printf("deep tier: not measured, no model is installed (laya model get smollm2-135m)\n");
  }
}

Result<Report> measure(const BenchOptions& options) {
  const Result<predict::EnginePaths> paths = setup::find_model(options.model);
  if (!paths) return paths.error();
  setup::ModelOptions instant = options.model;
  instant.deep = "none";
  const auto engine = open_engine(instant);
  if (!engine) return std::move(engine).error();
  std::string path = options.file;
  if (path.empty()) {
    Result<std::string> shipped = setup::find_data_file("testdata/demo.txt");
    if (!shipped) return std::move(shipped).error();
    path = std::move(shipped).value();
  }
  const Result<std::string> text = read_text(path, 1u << 20);
  if (!text) return text.error();

  Report report;
  Result<KeyTimes> keys = time_keys(**engine, *text + worst_cases());
  if (!keys) return std::move(keys).error();
  report.keys = *keys;
  // Now, before other models come into this process.
  const Result<observe::MemoryFigures> memory = observe::read_memory_figures();
  if (memory) {
    report.rss_mb = static_cast<double>(memory->resident) / 1e6;
    report.peak_rss_mb = static_cast<double>(memory->peak_resident) / 1e6;
  }
  Result<SessionTimes> sessions = time_sessions(**engine, *text);
  if (!sessions) return std::move(sessions).error();
  report.sessions = *sessions;
  const Result<double> start = time_start(*paths);
  if (!start) return start.error();
  report.start_us = *start;
  if ((*engine)->network() != nullptr) {
    Result<StepTimes> steps = time_network(*(*engine)->network(), paths->network_path);
    if (!steps) return std::move(steps).error();
    report.steps = std::move(steps).value();
  }
  const Result<std::string> deep = setup::find_deep(options.model);
  if (!deep) return deep.error();
  if (!deep->empty()) {
    setup::ModelOptions both = options.model;
    both.threads = 2;
    const auto two_tiers = open_engine(both);
    if (!two_tiers) return std::move(two_tiers).error();
    std::string typed = *text;
    if (options.file.empty()) {  // the demo's text is short
      const Result<std::string> letters = setup::find_data_file("testdata/fetched/letters.txt");
      const Result<std::string> more = letters ? read_text(*letters) : letters;
      if (more) typed += *more;
    }
    DeepBenchOptions how;
    how.stream_tokens = options.stream_tokens;
    Result<DeepReport> measured = time_deep(**two_tiers, typed, how);
    if (!measured) return std::move(measured).error();
    report.deep = std::move(measured).value();
  }
  return report;
}

void bench(const BenchOptions& options, Outcome& outcome) {
  const Result<Report> report = measure(options);
  if (!report) return fail(outcome, report.error());
  if (options.json) {
    std::cout << to_line(to_json(*report)) << std::endl;
  } else {
    print(*report);
  }
}

}  // namespace

void add_bench_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "speed on this machine, against the floor measured in the same run; checks its answers");
  command->add_option("-f,--file", options->file,
                      "text to type (default: the demo's and worst cases)");
  command
      ->add_option("--stream-tokens", options->stream_tokens,
                   "tokens that the decoder's next_token() is timed over")
      ->check(CLI::Range(std::size_t{10}, std::size_t{1000000}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "step_us: one token through the network and all logits, one thread. candidates_us: from an "
      "edit to five\n"
      "candidates, the step included. ghost_us: the phrase search. stream_floor_us: reading as "
      "many bytes as the\n"
      "weights have, once. deep: the decoder of the second tier, if one is installed or named.\n"
      "example: laya bench\n"
      "         laya bench --json | jq .candidates_us.p99\n"
      "         laya bench --deep smollm2-135m --file letters.txt\n"
      "         laya bench train");
  add_bench_decision_command(*command, outcome);
  add_bench_decoder_command(*command, outcome);
  add_training_benches(*command);
  command->callback([options, command, &outcome] {
    if (command->get_subcommands().empty()) bench(*options, outcome);
  });
}

}  // namespace laya::apps

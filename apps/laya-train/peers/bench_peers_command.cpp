#include "laya-train/peers/bench_peers_command.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "common/model_options.h"
#include "common/progress_line.h"
#include "laya-train/peers/bench_peers.h"
#include "setup/data_files.h"

namespace laya::apps {
namespace {

struct BenchPeersOptions {
  setup::ModelOptions model;
  std::string gguf;
  std::string python;
  std::size_t prompts = 20;
  std::size_t tokens = 64;
  bool json = false;
};

/// Whose choice is fp32's.
const char* agreeing(const Difference& difference) {
  if (difference.exact == difference.ours) return "ours";
  return difference.exact == difference.theirs ? "theirs" : "neither";
}

nlohmann::ordered_json to_json(const PeersReport& report) {
  nlohmann::ordered_json times = nlohmann::ordered_json::array();
  for (const PeerTimes& t : report.times) {
    times.push_back({{"threads", t.threads},
                     {"ours_ms", t.ours_ms},
                     {"theirs_ms", t.theirs_ms},
                     {"ratio", t.ratio()},
                     {"stream_floor_ms", t.floor_ms},
                     {"over_floor", t.ours_ms / t.floor_ms}});
  }
  nlohmann::ordered_json parity = nullptr;
  if (report.parity) {
    nlohmann::ordered_json differences = nlohmann::ordered_json::array();
    for (const Difference& d : report.parity->differences) {
      differences.push_back({{"prompt", d.prompt},
                             {"position", d.position},
                             {"ours", d.ours},
                             {"theirs", d.theirs},
                             {"our_gap", d.our_gap},
                             {"their_gap", d.their_gap},
                             {"exact", d.exact},
                             {"exact_gap", d.exact_gap},
                             {"near_tie", report.parity->is_near_tie(d)}});
    }
    parity = {{"prompts", report.parity->prompts},
              {"equal_prompts", report.parity->equal_prompts},
              {"positions", report.parity->positions},
              {"gap_noise",
               {{"ours_rms", report.parity->noise.ours_rms},
                {"theirs_rms", report.parity->noise.theirs_rms},
                {"places", report.parity->noise.places}}},
              {"tie_bar", report.parity->tie_bar()},
              {"differences", differences}};
  }
  return {{"peer", report.peer},
          {"kernels", report.kernels},
          {"weights_bytes", report.weights_bytes},
          {"one_token", times},
          {"greedy", parity}};
}

void print(const PeersReport& report) {
  std::printf("one token, all logits, p50 in turns (%s; %s, n_batch=1)\n", report.kernels.c_str(),
              report.peer.c_str());
  for (const PeerTimes& t : report.times) {
    std::printf(
        "  %d thread%s  ours %7.2f ms   llama.cpp %7.2f ms   %.2f x as fast   (floor %.2f ms, ours "
        "%.2f x floor)\n",
        t.threads, t.threads == 1 ? " " : "s", t.ours_ms, t.theirs_ms, t.ratio(), t.floor_ms,
        t.ours_ms / t.floor_ms);
  }
  if (!report.parity) {
    std::printf("greedy text: not compared, the vocabulary is pruned\n");
    return;
  }
  const Parity& parity = *report.parity;
  std::printf(
      "greedy text: %zu of %zu continuations equal, token for token; %zu differences at %zu "
      "places\n",
      parity.equal_prompts, parity.prompts, parity.differences.size(), parity.positions);
  std::printf(
      "  fp32's two likeliest tokens: our gap is off by %.3f (rms), theirs by %.3f, over %zu "
      "places; a near-tie: below %.3f in fp32\n",
      parity.noise.ours_rms, parity.noise.theirs_rms, parity.noise.places, parity.tie_bar());
  for (const Difference& d : parity.differences) {
    std::printf(
        "  prompt %zu, token %zu: ours \"%s\" (%.3f above theirs), theirs \"%s\" (%.3f above "
        "ours), in fp32 %+.3f; fp32 says %s%s\n",
        d.prompt + 1, d.position + 1, base::printable(d.ours).c_str(), d.our_gap,
        base::printable(d.theirs).c_str(), d.their_gap, d.exact_gap, agreeing(d),
        parity.is_near_tie(d) ? ": a near-tie" : "");
  }
}

void bench_peers(const BenchPeersOptions& options, Outcome& outcome) {
  const Result<std::string> deep = setup::find_deep(options.model);
  if (!deep) return fail(outcome, deep.error());
  if (deep->empty()) {
    return fail_usage(outcome, "bench peers needs a decoder: --deep NAME or --deep FILE");
  }
  const Result<std::string> script = setup::find_data_file("bench/peers/llama_cpp.py");
  if (!script) return fail(outcome, script.error());
  PeersOptions peers;
  peers.deep = *deep;
  peers.gguf = options.gguf;
  peers.script = *script;
  peers.python = options.python;
  peers.prompts = options.prompts;
  peers.tokens = options.tokens;
  if (peers.python.empty()) {
    const char* set = std::getenv("LAYA_PEERS_PYTHON");
    peers.python = set != nullptr && *set != '\0' ? set : "python3";
  }
  ProgressLine progress(stderr);
  peers.progress = [&](const std::string& stage, std::size_t done, std::size_t total) {
    progress.show(stage,
                  static_cast<double>(done) / static_cast<double>(std::max<std::size_t>(total, 1)));
  };
  const Result<PeersReport> report = compare_with_llama_cpp(peers);
  progress.clear();
  if (!report && report.error().code == ErrorCode::Unsupported) {
    std::printf("skipped: %s\n", report.error().message.c_str());
    return;
  }
  if (!report) return fail(outcome, report.error());
  if (options.json) {
    std::cout << to_line(to_json(*report)) << std::endl;
  } else {
    print(*report);
  }
  const auto decided = [&](const Difference& d) { return !report->parity->is_near_tie(d); };
  if (report->parity && std::any_of(report->parity->differences.begin(),
                                    report->parity->differences.end(), decided)) {
    fail(outcome, {ErrorCode::Internal,
                   "bench peers: a difference in greedy text that is no near-tie (if the model was "
                   "converted with other precisions than the GGUF has, that is why)"});
  }
}

}  // namespace

void add_bench_peers_command(CLI::App& bench, Outcome& outcome) {
  auto options = std::make_shared<BenchPeersOptions>();
  CLI::App* command = bench.add_subcommand(
      "peers", "the decoder beside llama.cpp: the same checkpoint, threads and tokens, in turns");
  command->add_option("--gguf", options->gguf, "the checkpoint that the decoder was converted from")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--python", options->python,
                      "a Python with llama-cpp-python (default: $LAYA_PEERS_PYTHON, then python3)");
  command->add_option("--prompts", options->prompts, "how many of 20 prompts are continued")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  command->add_option("--tokens", options->tokens, "tokens of each continuation")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "Both read the same weights only if nothing was made narrower: convert with the source's own "
      "precisions.\nWithout llama-cpp-python one line says so, and the exit code is 0.\n"
      "example: laya bench peers --deep smollm2.laya --gguf SmolLM2-135M-Instruct.Q4_1.gguf");
  command->callback([options, &outcome] { bench_peers(*options, outcome); });
}

}  // namespace laya::apps

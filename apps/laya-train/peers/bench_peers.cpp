#include "laya-train/peers/bench_peers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "base/clock.h"
#include "laya-train/peers/peer_process.h"
#include "simd/dispatch.h"
#include "simd/ops.h"
#include "simd/thread_pool.h"

namespace laya::apps {
namespace {

constexpr std::size_t kTurns = 12;        // the first is the warm-up
constexpr std::size_t kTokensATurn = 16;  // short enough that both sides see the same machine
constexpr auto kPause = std::chrono::milliseconds(20);  // spinning threads of the other side sleep

/// Reads as many bytes as the weights have, once, with as many threads.
class Floor {
 public:
  Floor(std::size_t bytes, int threads)
      : bytes_(std::max(bytes / kLine, std::size_t{1}) * kLine),
        memory_(new (std::align_val_t{kLine}) std::byte[bytes_]),
        pool_(static_cast<std::size_t>(threads)) {
    std::fill_n(memory_.get(), bytes_, std::byte{1});
  }
  double read_once_ms() {
    const std::size_t pieces = pool_.threads() == 1 ? 1 : 64;
    const std::size_t lines = bytes_ / kLine;
    const std::int64_t start = base::monotonic_ns();
    pool_.run(pieces, [&](std::size_t i) {
      const std::size_t from = lines * i / pieces * kLine;
      const std::size_t to = lines * (i + 1) / pieces * kLine;
      checksum_ += simd::stream_read(simd::best_kernels(), {memory_.get() + from, to - from});
    });
    return static_cast<double>(base::monotonic_ns() - start) / 1e6;
  }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{kLine});
    }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
  simd::ThreadPool pool_;
  std::atomic<std::uint64_t> checksum_{0};
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Tokens all over the vocabulary; small ids, which are the frequent ones, more often.
TokenId token_at(std::size_t i, std::size_t vocabulary_size) {
  return static_cast<TokenId>((i * 2654435761u + 17) %
                              std::min<std::size_t>(vocabulary_size, 20000));
}

Result<PeerProcess> start_peer(const PeersOptions& options, int threads, std::string& version,
                               std::size_t& vocabulary) {
  Result<PeerProcess> peer =
      PeerProcess::start({options.python, options.script, options.gguf, std::to_string(threads)});
  if (!peer) return peer;
  const Result<nlohmann::json> hello = peer->read();
  if (!hello) {
    return Error{ErrorCode::Io, options.gguf + ": llama.cpp could not open it"};
  }
  if (hello->contains("missing")) {
    return Error{ErrorCode::Unsupported,
                 options.python + " has no llama_cpp (pip install llama-cpp-python)"};
  }
  version = "llama-cpp-python " + hello->value("version", std::string("?"));
  vocabulary = hello->value("vocabulary", std::size_t{0});
  return peer;
}

Result<PeerTimes> time_both(const ConvertedModel& ours, PeerProcess& peer, int threads,
                            const PeersOptions& options) {
  const model::Threads ours_threads = threads == 2 ? model::Threads::Two : model::Threads::One;
  const std::size_t vocabulary = ours.decoder->config().vocabulary_size;
  GreedyReader runner(*ours.decoder, ours_threads);
  Floor floor(ours.decoder->weights_bytes(), threads);
  std::vector<double> our_times;
  std::vector<double> their_times;
  std::vector<double> floor_times;
  if (const auto cleared = peer.ask({{"do", "clear"}}); !cleared) return cleared.error();
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    if (options.progress) {
      options.progress(
          "timing, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"), turn,
          kTurns);
    }
    std::vector<TokenId> tokens;
    for (std::size_t i = 0; i < kTokensATurn; ++i) {
      tokens.push_back(token_at(turn * kTokensATurn + i, vocabulary));
    }
    std::this_thread::sleep_for(kPause);
    for (const TokenId token : tokens) {
      const std::int64_t start = base::monotonic_ns();
      if (Status s = runner.read(std::span(&token, 1)); !s) return s.error();
      if (turn > 0) our_times.push_back(static_cast<double>(base::monotonic_ns() - start) / 1e6);
    }
    for (int i = 0; i < 3 && turn > 0; ++i) floor_times.push_back(floor.read_once_ms());
    std::this_thread::sleep_for(kPause);
    const auto answer = peer.ask({{"do", "time"}, {"tokens", tokens}});
    if (!answer) return answer.error();
    const auto times = answer->find("ms");
    if (times == answer->end() || !times->is_array() || times->size() != kTokensATurn) {
      return Error{ErrorCode::Io, "llama.cpp did not time its tokens"};
    }
    for (const nlohmann::json& ms : *times) {
      if (turn > 0 && ms.is_number()) their_times.push_back(ms.get<double>());
    }
  }
  if (their_times.empty()) {
    return Error{ErrorCode::Io, "llama.cpp did not time its tokens"};
  }
  return PeerTimes{threads, median(our_times), median(their_times), median(floor_times)};
}

}  // namespace

Result<PeersReport> compare_with_llama_cpp(const PeersOptions& options) {
  Result<ConvertedModel> ours = open_converted(options.deep);
  if (!ours) return std::move(ours).error();
  PeersReport report;
  report.kernels = ours->decoder->backend_name();
  report.weights_bytes = ours->decoder->weights_bytes();
  const std::size_t rows = ours->decoder->config().vocabulary_size;
  for (const int threads : {1, 2}) {
    std::size_t vocabulary = 0;
    Result<PeerProcess> peer = start_peer(options, threads, report.peer, vocabulary);
    if (!peer) return std::move(peer).error();
    if (ours->pruned ? rows > vocabulary : rows != vocabulary) {
      return Error{ErrorCode::Corrupt, options.deep + " has " + std::to_string(rows) + " tokens, " +
                                           options.gguf + " " + std::to_string(vocabulary) +
                                           ": not the same model"};
    }
    const Result<PeerTimes> times = time_both(*ours, *peer, threads, options);
    if (!times) return times.error();
    report.times.push_back(*times);
    if (threads == 1 && !ours->pruned) {
      Result<Parity> parity =
          compare_greedy_text(*ours, *peer, options.prompts, options.tokens, options.progress);
      if (!parity) return std::move(parity).error();
      report.parity = std::move(*parity);
    }
  }
  return report;
}

}  // namespace laya::apps

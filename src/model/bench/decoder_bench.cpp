#include "model/bench/decoder_bench.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "model/core/aligned_bytes.h"
#include "model/decoder/token_stream.h"
#include "model/gru/language_model.h"
#include "simd/dispatch.h"
#include "simd/ops.h"
#include "simd/thread_pool.h"

namespace laya::model {
namespace {

constexpr std::size_t kContext = 64;
constexpr std::size_t kCandidates = 8;
constexpr std::size_t kCandidateTokens = 4;

double microseconds_since(std::int64_t start_ns) {
  return static_cast<double>(base::monotonic_ns() - start_ns) / 1000.0;
}

double quantile(std::vector<double>& values, double q) {
  if (values.empty()) {
    return 0;
  }
  const auto at = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

/// Reads as many bytes as a token's weights, shared by as many threads.
class Floor {
 public:
  Floor(std::size_t bytes, Threads threads)
      : memory_((bytes + 127) / 128 * 128), pool_(threads == Threads::Two ? 2 : 1) {
    std::ranges::fill(memory_.bytes(), std::byte{0x5A});
  }
  void read() {
    constexpr std::size_t kUnits = 64;
    const std::span<const std::byte> bytes = std::as_const(memory_).bytes();
    const std::size_t unit = (bytes.size() / kUnits + 63) / 64 * 64;
    std::array<std::uint64_t, kUnits> sums{};
    pool_.run(kUnits, [&](std::size_t i) {
      const std::size_t from = std::min(i * unit, bytes.size());
      sums[i] = simd::stream_read(simd::best_kernels(),
                                  bytes.subspan(from, std::min(unit, bytes.size() - from)));
    });
    for (const std::uint64_t sum : sums) {
      checksum_ += sum;
    }
  }
  /// Used, so that no compiler may drop the reads.
  std::uint64_t checksum() const { return checksum_; }

 private:
  AlignedBytes memory_;
  simd::ThreadPool pool_;
  std::uint64_t checksum_ = 0;
};

/// The bench's state: one decoder, one workspace, one cache that holds kContext tokens.
class Bench {
 public:
  Bench(const Decoder& decoder, const DecoderBenchOptions& options)
      : decoder_(decoder),
        options_(options),
        workspace_(decoder.make_workspace(options.threads)),
        floor_(decoder.weights_bytes(), options.threads),
        cache_(decoder.config(), options.cache),
        hidden_(kMaxColumns * decoder.config().hidden_dim),
        logits_(kMaxColumns * decoder.config().vocabulary_size) {
    const std::uint32_t v = decoder.config().vocabulary_size;
    for (std::uint32_t i = 0; i < kContext; ++i) {
      context_.push_back((i * 7919 + 13) % v);
    }
    for (std::uint32_t i = 0; i < kCandidates * kCandidateTokens; ++i) {
      candidates_.push_back((i * 104729 + 1) % v);
    }
  }

  Result<DecoderTiming> run() {
    Status status = decoder_.prefill(*workspace_, cache_, context_, {});
    status = status ? check() : status;
    for (std::size_t turn = 0; turn < options_.turns && status; ++turn) {
      status = take_turn();
    }
    status = status ? stream() : status;
    if (!status) {
      return status.error();
    }
    DecoderTiming timing;
    timing.weights_bytes = decoder_.weights_bytes();
    timing.floor_us = quantile(floor_us_, 0.5) + (floor_.checksum() == 1 ? 1e-9 : 0.0);
    timing.token_us = quantile(token_us_, 0.5);
    timing.body_us = quantile(body_us_, 0.5);
    timing.columns8_us = quantile(columns8_us_, 0.5);
    timing.body8_us = quantile(body8_us_, 0.5);
    timing.columns16_us = quantile(columns16_us_, 0.5);
    timing.prefill64_us = quantile(prefill_us_, 0.5);
    timing.shared_us = quantile(shared_us_, 0.5);
    timing.unshared_us = quantile(unshared_us_, 0.5);
    timing.stream_tokens = next_us_.size();
    timing.next_token_us = quantile(next_us_, 0.5);
    timing.next_token_p99_us = quantile(next_us_, 0.99);
    timing.session_bytes = cache_.size_bytes();
    return timing;
  }

 private:
  Status take_turn() {
    const std::size_t passes = options_.passes, cold = std::max<std::size_t>(passes / 10, 1);
    for (std::size_t i = 0; i < passes + cold; ++i) {
      const std::int64_t start = base::monotonic_ns();
      floor_.read();
      if (i >= cold) {
        floor_us_.push_back(microseconds_since(start));
      }
    }
    struct Kind {
      std::size_t columns;
      std::vector<double>*body, *all;
    };
    std::vector<double> unused;
    for (const Kind& kind : {Kind{1, &body_us_, &token_us_}, Kind{8, &body8_us_, &columns8_us_},
                             Kind{kMaxColumns, &unused, &columns16_us_}}) {
      for (std::size_t i = 0; i < passes + cold; ++i) {
        double body = 0, all = 0;
        if (auto status = time_pass(kind.columns, body, all); !status) {
          return status;
        }
        if (i >= cold) {
          kind.body->push_back(body);
          kind.all->push_back(all);
        }
      }
    }
    std::array<float, kCandidates> scores{};
    for (int i = 0; i < 2; ++i) {
      std::int64_t start = base::monotonic_ns();
      if (auto status = score_shared(scores); !status) {
        return status;
      }
      shared_us_.push_back(microseconds_since(start));
      start = base::monotonic_ns();
      KvCache fresh(decoder_.config(), options_.cache);
      if (auto status = decoder_.prefill(*workspace_, fresh, context_, {}); !status) {
        return status;
      }
      prefill_us_.push_back(microseconds_since(start));
    }
    const std::int64_t start = base::monotonic_ns();
    if (auto status = score_unshared(scores); !status) {
      return status;
    }
    unshared_us_.push_back(microseconds_since(start));
    return {};
  }

  std::span<float> hidden(std::size_t columns) {
    return std::span(hidden_).first(columns * decoder_.config().hidden_dim);
  }
  std::span<float> logits(std::size_t columns) {
    return std::span(logits_).first(columns * decoder_.config().vocabulary_size);
  }

  /// A chain of `columns` tokens after the context, and its logits.
  Status time_pass(std::size_t columns, double& body, double& all) {
    std::array<Column, kMaxColumns> chain;
    for (std::size_t i = 0; i < columns; ++i) {
      chain[i] = {static_cast<KvNodeId>(i) - 1, candidates_[i]};
    }
    const std::int64_t start = base::monotonic_ns();
    Status status =
        decoder_.grow(*workspace_, cache_, std::span(chain).first(columns), hidden(columns));
    body = microseconds_since(start);
    status =
        status ? decoder_.logits(*workspace_, hidden(columns), columns, logits(columns)) : status;
    all = microseconds_since(start);
    cache_.clear_tree();
    return status;
  }

  /// ln p of each candidate: its first token from the context's vector, the others from a tree of
  /// three tokens a candidate.
  Status score_shared(std::span<float, kCandidates> scores) {
    const TokenId last = context_.back();
    cache_.truncate(kContext - 1);
    Status status = decoder_.prefill(*workspace_, cache_, {&last, 1}, hidden(1));
    std::array<TokenId, kCandidates> firsts;
    for (std::size_t c = 0; c < kCandidates; ++c) {
      firsts[c] = candidates_[c * kCandidateTokens];
    }
    float sum = 0;
    status = status ? decoder_.log_normalizers(*workspace_, hidden(1), 1, {&sum, 1}) : status;
    status = status ? decoder_.logits_rows(*workspace_, hidden(1), 1, firsts, scores) : status;
    for (float& score : scores) {
      score -= sum;
    }
    constexpr std::size_t kNodes = kCandidateTokens - 1;  // nothing follows the last token
    constexpr std::size_t kAtOnce = kMaxColumns / kNodes;
    for (std::size_t first = 0; first < kCandidates && status; first += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, kCandidates - first), n = count * kNodes;
      std::array<Column, kMaxColumns> columns;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t at = (first + i / kNodes) * kCandidateTokens + i % kNodes;
        const KvNodeId before = static_cast<KvNodeId>(first * kNodes + i) - 1;
        columns[i] = {i % kNodes == 0 ? kRoot : before, candidates_[at]};
      }
      status = decoder_.grow(*workspace_, cache_, std::span(columns).first(n), hidden(n));
      std::array<float, kMaxColumns> sums;
      status = status
                   ? decoder_.log_normalizers(*workspace_, hidden(n), n, std::span(sums).first(n))
                   : status;
      for (std::size_t i = 0; i < n && status; ++i) {
        const std::size_t d = decoder_.config().hidden_dim;
        const TokenId next = candidates_[(first + i / kNodes) * kCandidateTokens + i % kNodes + 1];
        float score = 0;
        status = decoder_.logits_rows(*workspace_, std::span(hidden_).subspan(i * d, d), 1,
                                      {&next, 1}, {&score, 1});
        scores[first + i / kNodes] += score - sums[i];
      }
    }
    cache_.clear_tree();
    return status;
  }

  /// The same, each candidate with its context from nothing.
  Status score_unshared(std::span<float, kCandidates> scores) {
    for (std::size_t c = 0; c < kCandidates; ++c) {
      KvCache fresh(decoder_.config(), options_.cache);
      Status status = decoder_.prefill(*workspace_, fresh, context_, hidden(1));
      scores[c] = 0;
      for (std::size_t i = 0; i < kCandidateTokens && status; ++i) {
        const TokenId token = candidates_[c * kCandidateTokens + i];
        status = decoder_.logits(*workspace_, hidden(1), 1, logits(1));
        scores[c] += logits(1)[token] - log_sum_exp(logits(1));
        if (status && i + 1 < kCandidateTokens) {
          status = decoder_.prefill(*workspace_, fresh, {&token, 1}, hidden(1));
        }
      }
      if (!status) {
        return status;
      }
    }
    return {};
  }

  /// That the fast ways give the answers of the slow ones.
  Status check() {
    std::array<float, kCandidates> shared{}, unshared{};
    Status status = score_shared(shared);
    status = status ? score_unshared(unshared) : status;
    for (std::size_t c = 0; c < kCandidates && status; ++c) {
      if (!(std::abs(shared[c] - unshared[c]) < 1e-2F)) {
        return Error{ErrorCode::Internal, "decoder bench: candidate " + std::to_string(c) +
                                              " scores differently with a shared context"};
      }
    }
    double unused = 0;
    status = status ? time_pass(8, unused, unused) : status;
    const std::vector<float> eight(logits(8).begin(), logits(8).end());
    const std::size_t v = decoder_.config().vocabulary_size;
    for (std::size_t c = 0; c < 8 && status; ++c) {
      const Column column{static_cast<KvNodeId>(c) - 1, candidates_[c]};
      status = decoder_.grow(*workspace_, cache_, {&column, 1}, hidden(1));
      status = status ? decoder_.logits(*workspace_, hidden(1), 1, logits(1)) : status;
      if (status && !std::ranges::equal(logits(1), std::span(eight).subspan(c * v, v))) {
        return Error{ErrorCode::Internal, "decoder bench: column " + std::to_string(c) +
                                              " of eight differs from itself"};
      }
    }
    cache_.clear_tree();
    return status;
  }

  Status stream() {
    KvCache cache(decoder_.config(), options_.cache);
    TokenStream tokens(decoder_, cache, {}, options_.threads);
    Status status = tokens.start(context_);
    for (std::size_t i = 0; i < options_.stream_tokens && status; ++i) {
      const std::int64_t start = base::monotonic_ns();
      const auto token = tokens.next_token();
      next_us_.push_back(microseconds_since(start));
      status = token ? Status{} : Status{token.error()};
      if (cache.length() + 1 >= decoder_.config().max_context) {
        cache.truncate(0);
      }
    }
    return status;
  }

  const Decoder& decoder_;
  const DecoderBenchOptions options_;
  std::unique_ptr<Workspace> workspace_;
  Floor floor_;
  KvCache cache_;
  std::vector<float> hidden_, logits_;
  std::vector<TokenId> context_, candidates_;
  std::vector<double> floor_us_, body_us_, token_us_, body8_us_, columns8_us_, columns16_us_,
      prefill_us_, shared_us_, unshared_us_, next_us_;
};

}  // namespace

Result<DecoderTiming> time_decoder(const Decoder& decoder, const DecoderBenchOptions& options) {
  if (options.turns == 0 || options.passes == 0) {
    return Error{ErrorCode::BadArgument, "decoder bench: 0 turns or passes"};
  }
  if (options.cache.capacity_tokens < kContext + kMaxColumns ||
      options.cache.tree_nodes < kCandidates * kCandidateTokens) {
    return Error{ErrorCode::BadArgument,
                 "decoder bench: the cache must hold 80 tokens and 32 nodes"};
  }
  if (auto status = KvCache::check(decoder.config(), options.cache); !status) {
    return status.error();
  }
  return Bench(decoder, options).run();
}

}  // namespace laya::model

// A decoder as a stream of tokens: prompt in, one token a call out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "model/core/split_mix.h"
#include "model/decoder/decoder.h"

namespace laya::model {

/// How the next token is chosen from the logits. The default is greedy: the largest, ties by the
/// smaller id.
struct Sampling {
  float temperature = 0;    ///< 0: greedy; else logits are divided by it
  std::uint32_t top_k = 0;  ///< keep the k largest, at most 256; 0: 256
  float top_p = 1;          ///< keep the fewest of those that hold this share
  std::uint64_t seed = 1;   ///< the same seed gives the same text
};

/// Belongs to one thread. `decoder` and `cache` must outlive it; nobody else may change the cache
/// in between.
class TokenStream {
 public:
  TokenStream(const Decoder& decoder, KvCache& cache, const Sampling& sampling = {},
              Threads threads = Threads::One);

  /// Continues the main sequence by `prompt` (at least one token: there must be something to go on
  /// from). The last one is read by the first next_token(), so that every call costs the same.
  Status start(std::span<const TokenId> prompt, const base::CancelFlag* cancel = nullptr);

  /// One pass, all logits, one choice. The token is not in the cache until the next call. After an
  /// error (Cancelled) the call can be repeated. BadArgument before start(). Allocates nothing
  /// after the first call.
  Result<TokenId> next_token(const base::CancelFlag* cancel = nullptr);

  /// Logits [V] that the last choice was made from.
  std::span<const float> logits() const { return logits_; }
  Workspace& workspace() { return *workspace_; }

 private:
  TokenId choose();

  const Decoder& decoder_;
  KvCache& cache_;
  Sampling sampling_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<float> hidden_, logits_;
  std::vector<std::uint32_t> best_;
  std::vector<float> best_values_;
  SplitMix random_;
  TokenId pending_ = kNoToken;  // chosen, or the prompt's last; not yet read
};

}  // namespace laya::model

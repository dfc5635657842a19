// SentenceScorer: how likely each of some strings is after a text, by the decoder. For an input
// method's n best readings of a sentence, or any list whose order is in doubt.
//
// The strings become one trie of tokens; only its inner nodes are computed, sixteen a pass, and all
// share the keys and values of the text before them. So fifty readings that mostly agree cost
// little more than one.
//
//   SentenceScorer scorer(decoder, tokenizer, {});
//   scorer.set_context("明天");                // prefilled once, kept while it grows
//   scorer.score(candidates, log_probs);        // ln p of each, comparable with each other
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "model/decoder/decoder.h"
#include "model/decoder/prefix_cache.h"
#include "predict/source/token_trie.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

struct SentenceScorerOptions {
  model::Threads threads = model::Threads::Two;
  model::KvOptions keys_and_values = {};
  /// Beginnings known from elsewhere; may be nullptr. Of the same decoder and KvOptions.
  model::PrefixCache* prefixes = nullptr;
};

/// One thread at a time. Decoder, tokenizer and prefix cache must outlive it.
class SentenceScorer {
 public:
  /// `options.keys_and_values` must pass KvCache::check.
  SentenceScorer(const model::Decoder& decoder, const text::SubwordTokenizer& tokenizer,
                 const SentenceScorerOptions& options);

  /// The text that the candidates follow (any bytes; only its end counts, kContextTokens of it).
  /// What it shares with the last one is not computed again. Errors: Cancelled, or the decoder's.
  Status set_context(std::string_view before, const base::CancelFlag* cancel = nullptr);

  /// log_probs[i] = ln p(tail + candidates[i] | front), in the tokens that the tokenizer gives it,
  /// where tail is the end of the context whose tokens a candidate may still change: the same for
  /// all candidates, so their order and their differences are those of ln p(candidate | context).
  /// An empty candidate counts its tail only. BadArgument if the spans differ in length; Cancelled,
  /// or the decoder's errors (log_probs are then unspecified).
  Status score(std::span<const std::string_view> candidates, std::span<float> log_probs,
               const base::CancelFlag* cancel = nullptr);

  static constexpr std::size_t kContextTokens = 256;

  /// Of the last score(): passes over the weights, and tokens computed in them.
  std::size_t passes() const { return passes_; }
  std::size_t columns() const { return columns_; }

 private:
  struct Path {
    std::int32_t leaf;
    std::size_t candidate;
  };
  Status score_trie(std::span<float> log_probs, const base::CancelFlag* cancel);

  const model::Decoder* decoder_;
  const text::SubwordTokenizer* tokenizer_;
  model::PrefixCache* prefixes_;
  std::unique_ptr<model::Workspace> workspace_;
  model::KvCache cache_;
  text::SubwordScratch scratch_;
  std::string tail_;                // end of the context that is not in the cache
  std::string text_;                // tail and one candidate
  std::vector<TokenId> wanted_;     // tokens of the context
  std::vector<TokenId> held_;       // tokens of the cache's main sequence
  std::vector<float> root_hidden_;  // [d] behind them
  bool root_known_ = false;
  TokenTrie trie_;
  std::vector<Path> paths_;
  std::vector<float> node_log_prob_;    // [nodes] ln p of the path down to the node
  std::vector<model::KvNodeId> place_;  // [nodes] in the cache's tree; kRoot - 1: not computed
  std::vector<TokenId> ids_;
  std::vector<TokenId> rows_;
  std::vector<std::int32_t> children_;
  std::vector<float> hidden_;  // [16, d]
  std::vector<float> logits_;
  std::size_t passes_ = 0;
  std::size_t columns_ = 0;
};

/// How a text begins for this model: BOS where it was taught with it, else a line end (as DeepSource
/// begins). Nothing is predicted well without it.
std::vector<TokenId> text_beginning(const text::SubwordTokenizer& tokenizer);

}  // namespace laya::predict

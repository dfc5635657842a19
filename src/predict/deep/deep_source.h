// DeepSource: the decoder as a source of words and of next Han characters.
//
// What is asked for is the probability of a *word*, not of a token, so it is a sum over all ways in
// which tokens can spell it; and the text's last token need not end where the text does. The text
// left of the caret is cut in two: a front C whose tokens are fixed (they are in the KV cache's
// main sequence), and an open tail s (the word being typed with its leading space, or in a Han run
// the last token). With M(x) = the probability that C is continued by a text that begins with x,
//   M(x | node) = Σ p(t | node) over tokens t that begin with x
//               + Σ p(t | node) M(x − t | node·t) over tokens t that are a proper prefix of x,
//   P(word | text) = M(lead + word, then its end) / M(lead),
// lead being what of s lies before the word. Nodes that carry a relevant share are looked into, up
// to 16 in one pass; what lies below the others is shared out as the n-gram table would.
//
// Passes run in prepare() only; everything else is arithmetic on what is known, so a letter inside
// a word mostly costs no pass. Not thread-safe: prepare() may run on another thread than the rest,
// if hand-overs are synchronised (deep_tier.h). No allocation after the first calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "base/token_id.h"
#include "model/core/workspace.h"
#include "model/decoder/kv_cache.h"
#include "model/decoder/prefix_cache.h"
#include "predict/deep/deep_model.h"
#include "predict/deep/deep_options.h"
#include "predict/deep/deep_statistics.h"
#include "predict/source/source.h"

namespace laya::predict {

class DeepTree;

class DeepSource : public Source {
 public:
  /// `model`, `index`, `ngrams` and `prefixes` (both may be nullptr) must outlive the source.
  DeepSource(const DeepModel& model, const PieceIndex& index, const model::NgramModel* ngrams,
             model::Threads threads, const DeepOptions& options = {},
             model::PrefixCache* prefixes = nullptr);
  ~DeepSource() override;

  // --- Source. follow() and clear() must not run while prepare() does. clear() also takes back
  // what it left in the shared prefixes.
  void follow(const TypedText& text, const TypedText::Delta& delta) override;
  void clear() override;
  /// Another session's text comes next: as clear(), but what the present one left in the shared
  /// prefixes stays there, for when it comes back. `next` owns what is left from now on.
  void hand_over(model::PrefixCache::Owner next);
  void propose(const TypedText& text, const WordQuery& query, WordPool* pool) override;
  /// Fills PoolWord::log_p_deep. Uses the pool's other log probabilities to share out what was not
  /// looked into.
  void score(const TypedText& text, const WordQuery& query, WordPool* pool) override;

  // --- Passes.
  /// Brings the decoder up to `text`: the only function that runs passes. Reads `text` during the
  /// call only. Errors: Cancelled (what was reached is kept; call again), Internal. After an error
  /// ready() is false and the source proposes nothing.
  Status prepare(const TypedText& text, const base::CancelFlag* cancel = nullptr);
  /// False: prepare(text) would run no pass (the caller may do it at once).
  bool needs_pass(const TypedText& text);
  /// prepare() succeeded and the text has not changed since.
  bool ready() const;

  // --- Chinese (after prepare()).
  /// The decoder's vocabulary holds most common Han characters: else it has nothing to say here.
  bool knows_han() const;
  /// p(next character | text), indexed as PieceIndex::han(); empty if it knows none or is not
  /// ready.
  std::span<const float> han_probs();
  /// ln p(`character` | text + `word`) where tokens of several characters or nodes looked into tell
  /// it; kUnknownLog (> 0) where nothing does. Both UTF-8.
  static constexpr float kUnknownLog = 1;
  float log_han_after(std::string_view word, std::string_view character);

  // --- For ghost and re-ranking (after prepare()). The tree may be grown by the caller, who drops
  // its nodes again with cache().drop_nodes_from() or leaves those that may be typed next.
  const DeepModel& model() const;
  model::KvCache& cache();
  model::Workspace& workspace();
  /// Length of the front of text.before() that the cache's main sequence holds. The rest is open.
  std::size_t closed_bytes() const;
  /// p(token | main sequence), [V].
  std::span<const float> root_probs() const;
  /// What was looked into for the list, with the probabilities behind it.
  const DeepTree& tree() const;

  const DeepStatistics& statistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace laya::predict

// DeepGhost: the grey phrase by the decoder. It begins with a word of the list and goes on as the
// decoder would say, greedily; guesses run ahead, by the instant tier (deep_ghost_drafter.h) and by
// what the decoder said before (said_before.h), the likeliest of both (draft_tree.h). One pass
// checks them all (deep_ghost_verifier.h), so that a phrase of eight tokens costs four or five
// passes, not eight.
//
// How far the phrase is shown follows the rule of ghost_rules.h, with the decoder's probability of
// each word mixed with the instant tier's. Every rule of ghost_search.h holds: it only extends what
// was typed, is whole characters, repeats nothing right of the caret, is never punctuation alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "predict/ghost/deep_ghost_drafter.h"
#include "predict/ghost/deep_ghost_verifier.h"
#include "predict/ghost/draft_tree.h"
#include "predict/ghost/ghost_search.h"
#include "predict/ghost/said_before.h"
#include "predict/source/block_list.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

class DeepTree;

/// What each token of a decoder may do in a phrase. One per tokenizer; immutable.
class GhostTokens {
 public:
  explicit GhostTokens(const text::SubwordTokenizer& tokenizer);

  /// Letters, Chinese characters, marks and single spaces: may stand in a phrase.
  bool allowed(TokenId token) const {
    return token < uses_.size() && (uses_[token] & kAllowed) != 0;
  }
  /// Would lengthen a word of letters that stands before it.
  bool continues_word(TokenId token) const {
    return token < uses_.size() && (uses_[token] & kContinues) != 0;
  }
  /// All of those.
  std::span<const TokenId> continuing() const { return continuing_; }

 private:
  static constexpr std::uint8_t kAllowed = 1;
  static constexpr std::uint8_t kContinues = 2;
  std::vector<std::uint8_t> uses_;
  std::vector<TokenId> continuing_;
};

/// The nodes that a DeepSource has looked into, for DeepGhostRequest::known.
class NodesOfList : public KnownNodes {
 public:
  explicit NodesOfList(const DeepTree& tree) : tree_(&tree) {}
  Known find(model::KvNodeId parent, TokenId token) const override;

 private:
  const DeepTree* tree_;
};

/// Where and on what a phrase is searched. All views are read during search() only.
struct DeepGhostRequest {
  model::Workspace* workspace = nullptr;
  model::KvCache* cache = nullptr;    ///< its tree may be grown; nodes are left there
  std::span<const float> root_probs;  ///< [V] p(token | main sequence)
  std::size_t closed_bytes = 0;       ///< of text.before(): what the main sequence holds
  const TypedText* text = nullptr;
  SearchSources sources;  ///< the instant tier, for drafts and for the mixture
  const text::Vocabulary* vocabulary = nullptr;  ///< of its network
  const KnownNodes* known = nullptr;             ///< what was looked into for the list
  std::span<const GhostStart> starts;  ///< best first: words of the list (insert, log_prob)
  GhostLimits limits;
  float decoder_share = 0.8F;  ///< of the decoder in each word's probability
  const base::CancelFlag* cancel = nullptr;
};

/// Drafts and their yield over many searches (bench, tests).
struct DeepGhostCounts {
  std::uint64_t searches = 0;
  std::uint64_t passes = 0;
  std::uint64_t drafting_passes = 0;  ///< of them, those with drafts switched on
  std::uint64_t columns = 0;
  std::uint64_t drafted = 0;
  std::uint64_t agreed = 0;
  std::uint64_t draft_ns = 0;  ///< time spent on guessing
};

/// One per thread that runs searches; any session's. Holds 16 rows of logits.
class DeepGhost : private GhostGuide {
 public:
  static constexpr std::size_t kTokens = 8;  ///< of a phrase, its first word's included
  static constexpr std::size_t kStarts =
      2;  ///< looked at: the second only if the first shows nothing
  static constexpr std::size_t kMaxBytes = 256;

  enum class Drafting : std::uint8_t { On, Off };
  /// UntilUnlikely: ends where it could not be shown any more. Full: always kTokens, as a measure.
  enum class Length : std::uint8_t { UntilUnlikely, Full };

  /// All must outlive it; `network` may be nullptr.
  DeepGhost(const model::Decoder& decoder, const text::SubwordTokenizer& tokenizer,
            const model::LanguageModel* network);

  void set_drafting(Drafting drafting) { drafting_ = drafting; }
  void set_length(Length length) { length_ = length; }

  /// True if there is something to show: text() and log_prob(). Cancelled and the decoder's errors
  /// are returned; there is then nothing to show.
  Result<bool> search(const DeepGhostRequest& request);

  /// Wipes what the last search left of the text: it is shared, and the next search may be another field's.
  void forget();
  /// Wipes what the decoder said in all searches so far, which forget() keeps to guess by: for the
  /// end of a field whose text was private to it (closed, cleared, or become a secret one). The
  /// next searches guess less well; what they find is the same.
  void forget_said() { said_.clear(); }

  std::string_view text() const { return best_text_; }
  float log_prob() const { return best_log_prob_; }
  /// The whole greedy phrase of the last start, shown or not, and passes of the last search().
  std::string_view whole_text() const { return phrase_; }
  std::size_t tokens() const { return verifier_.tokens().size(); }
  std::size_t passes() const { return passes_; }
  const DeepGhostCounts& counts() const { return counts_; }

 private:
  void draft(std::span<const TokenId> tokens, std::size_t columns, TokenTrie& drafts) override;
  void read(std::span<const TokenId> tokens, const TokenRow& row) override;
  void learn(std::span<const TokenId> path, TokenId next) override;
  bool accept(std::span<const TokenId> tokens, TokenId next, float log_prob) override;
  void offer_instant_drafts(std::span<const TokenId> tokens);
  bool repeats_what_follows() const;
  void consider(float log_prob);

  const model::Decoder* decoder_;
  const text::SubwordTokenizer* tokenizer_;
  GhostTokens tokens_;
  DraftVerifier verifier_;
  InstantDrafter drafter_;
  SaidBefore said_;
  DraftTree draft_tree_;
  text::SubwordScratch scratch_;
  Drafting drafting_ = Drafting::On;
  Length length_ = Length::UntilUnlikely;
  const DeepGhostRequest* request_ = nullptr;
  std::vector<TokenId> given_;
  std::vector<TokenId> ids_;
  std::string spelled_;  // what follows the main sequence: the open tail and the phrase
  std::string word_;
  std::string phrase_;  // behind the caret
  std::size_t start_bytes_ = 0;
  float log_closed_ = 0;  // ln p of the phrase up to the last word's beginning
  float log_word_ = 0;    // ln p of the last word by the decoder so far
  float log_here_ = 0;    // ln p of the phrase as it stands, its last word finished
  float log_end_ = 0;     // ln p that its last word is finished
  bool over_ = false;
  BlockContext before_;  // the text before the caret, for the block list
  std::string best_text_;
  float best_log_prob_ = 0;
  float best_benefit_ = 0;
  std::size_t passes_ = 0;
  DeepGhostCounts counts_;
};

}  // namespace laya::predict

// GhostSearch: the grey phrase. A small beam over pieces, scored by network and n-gram table
// together, one pass over the weights a step for all hypotheses.
//
// How far it goes, and whether it is shown: ghost_rules.h.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "predict/list/han_search.h"
#include "predict/source/block_list.h"

namespace laya::predict {

/// Where a ghost may start: a candidate of the list, and how it is spelled.
struct GhostStart {
  /// Free: nothing of a word is typed. Word: from a word, whose rest is `insert` (empty: it is
  /// typed already, a space follows).
  enum class Kind : std::uint8_t { Free, Word };
  Kind kind = Kind::Free;
  std::string_view insert;
  model::WordId word = model::kUnknownWord;
  float log_prob = 0;  ///< ln p(word | text and typed prefix)
  std::span<const TokenId>
      pieces;  ///< the word's pieces with the space ("tomorrow "); empty: unknown
};

/// What of the text right of the caret a phrase must not repeat.
struct GhostLimits {
  std::string_view next_word_after;  ///< first word right of the caret
};

class GhostSearch {
 public:
  static constexpr std::size_t kBeam = 4;
  static constexpr std::size_t kSteps = 8;
  static constexpr std::size_t kMaxBytes = 160;

  /// `vocabulary_size` 0 without a network.
  explicit GhostSearch(std::size_t vocabulary_size);

  /// Searches from `starts` (best first, at most kBeam used). True if there is something to show;
  /// text() is then what to insert.
  bool search(const SearchSources& sources, const text::Vocabulary* vocabulary,
              const TypedText& text, std::span<const GhostStart> starts, const GhostLimits& limits);

  std::string_view text() const { return {best_text_.data(), best_length_}; }
  float log_prob() const { return best_log_prob_; }

 private:
  struct Hypothesis {
    NodeId node = kRoot;
    model::NgramContext context;
    float log_prob = 0;          ///< of all that is in the text
    float before_word = 0;       ///< log_prob at the start of the open word
    float network_word = 0;      ///< ln p of the open word's pieces by the network alone
    std::size_t word_begin = 0;  ///< where the open word begins in the text
    std::size_t units = 0;
    std::size_t row = 0;      ///< of rows_
    bool in_word = false;     ///< pieces of a word without its end
    bool owes_space = false;  ///< the last piece brought a space that is not written yet
    std::size_t length = 0;
    std::array<char, kMaxBytes> text;
  };
  struct Step {
    std::size_t parent;
    TokenId token;  ///< kNoToken: a word of the table only
    model::WordId word;
    float log_prob;
    float network_word;
    PieceRole role;
  };

  void propose(const SearchSources& sources, const text::Vocabulary* vocabulary, std::size_t parent,
               std::span<const float> log_probs);
  bool follow(const SearchSources& sources, const text::Vocabulary* vocabulary, const Step& step,
              const GhostLimits& limits, Hypothesis* out) const;
  void consider(const Hypothesis& hypothesis);

  BlockContext before_;  // the text before the caret, for the block list
  std::array<Hypothesis, kBeam> beam_;
  std::array<Hypothesis, kBeam> next_beam_;
  std::size_t beam_size_ = 0;
  std::vector<Step> steps_;
  std::vector<float> rows_;  // [kBeam, V]
  std::array<char, kMaxBytes> best_text_{};
  std::size_t best_length_ = 0;
  float best_log_prob_ = 0;
  float best_benefit_ = 0;
};

}  // namespace laya::predict

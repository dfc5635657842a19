// InstantDrafter: guesses how a phrase goes on, with the instant tier's network and table: a small
// tree of words and characters, the likeliest first. The decoder checks them (deep_ghost.h); a
// wrong guess costs nothing but its column of a pass.
//
// It also says how likely the instant tier finds each word of a phrase, for the mixture that
// decides whether the phrase is shown. Guesses come from the table, and from the network where its
// distribution is there already: asking it costs more time than its better guesses save.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/instant/network_tree.h"
#include "predict/list/han_search.h"
#include "text/units.h"

namespace laya::text {
class Vocabulary;
}

namespace laya::predict {

class InstantDrafter {
 public:
  struct Draft {
    std::string_view text;  ///< behind the phrase, blanks included: " morning at"
    float log_prob;
  };

  /// `network` may be nullptr; it must outlive the drafter.
  explicit InstantDrafter(const model::LanguageModel* network);
  ~InstantDrafter();

  /// Starts at the caret of `text`. The sources (and `text`) are read until end().
  void begin(const SearchSources& sources, const text::Vocabulary* vocabulary,
             const TypedText& text);

  /// Wipes what it remembers of the text.
  void forget();

  /// Likely continuations of `phrase` (what follows the caret so far; the rest of the open word
  /// first), best first. The views live until the next call.
  std::span<const Draft> draft(std::string_view phrase);

  /// ln p of the phrase's last word or character by the instant tier, given what is before it;
  /// kImpossible if it does not know it. A word that touches the end of `phrase` counts as
  /// finished.
  float log_prob_of_last(std::string_view phrase);

  static constexpr std::size_t kDrafts = 24;
  /// Passes of the small network since it was made.
  std::uint64_t passes() const { return tree_ ? tree_->passes() : 0; }

 private:
  static constexpr std::size_t kRows = 32;            // distributions kept
  static constexpr std::size_t kBatch = 2;            // words looked behind in one pass
  static constexpr std::size_t kRounds = 2;           // of a draft
  static constexpr std::size_t kFirstFollowers = 12;  // of the phrase
  static constexpr std::size_t kFollowers = 6;        // of a word behind it
  static constexpr std::size_t kNodes = 192;
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int32_t kRootRow = -2;

  /// A word, character or mark behind another.
  struct Node {
    std::int32_t parent = kNone;
    std::uint32_t text_begin = 0;  // in texts_
    std::uint32_t text_length = 0;
    model::NgramContext context;
    NodeId network = kNoNode;   // of tree_, behind it
    std::int32_t row = kNone;   // its distribution, or kRootRow
    float log_p = 0;            // given the parent
    float log_path = 0;         // from where the present draft begins
    std::uint32_t drafted = 0;  // the draft that log_path belongs to
    std::uint16_t units = 0;
    bool space_before_word = false;
    bool sentence_end = false;
    bool is_word = false;
    bool network_tried = false;
  };
  struct Follower {
    std::string_view text;
    float log_p;
  };

  std::string_view text_of(std::int32_t node) const;
  std::int32_t find(std::int32_t parent, std::string_view text) const;
  std::int32_t child(std::int32_t parent, std::string_view text, float log_p);
  enum class Ask : std::uint8_t { Table, Both };
  std::int32_t walk(std::string_view whole, Ask ask, std::size_t* partial, std::size_t* last_begin);
  void move_root(std::int32_t node, std::size_t bytes);
  void look_behind(std::span<const std::int32_t> nodes);
  void grow_pieces(std::int32_t node);
  std::span<const float> row_of(const Node& node) const;
  float log_prob(std::int32_t parent, std::string_view text);
  std::size_t followers(std::int32_t node, std::span<Follower> out);
  void push(std::int32_t node, float log_path);
  void write_drafts(std::int32_t from, std::size_t partial);

  SearchSources sources_;
  const text::Vocabulary* vocabulary_ = nullptr;
  std::string typed_;                // the open word
  std::size_t rooted_ = 0;           // bytes of open word and phrase that nodes_[0] stands behind
  std::optional<NetworkTree> tree_;  // its own, so that the session's is left alone
  std::vector<float> rows_;          // [kRows, V]
  std::size_t rows_used_ = 0;
  std::vector<Node> nodes_;
  std::string texts_;
  std::string whole_;  // open word and phrase
  std::vector<std::int32_t> frontier_;
  std::vector<std::int32_t> reached_;  // of this draft
  std::uint32_t round_ = 0;
  std::array<Draft, kDrafts> drafts_;
  std::array<std::array<char, 2 * text::kMaxUnitBytes>, kFirstFollowers> raised_;
  std::string draft_texts_;
};

}  // namespace laya::predict

// The words that pinyin can spell, as a trie of syllables: what an input method's dictionary holds,
// laid out so that a search can walk it letter by letter.
//
// Immutable after LexiconBuilder::build(); shared by all sessions and threads. A word is an index;
// words of one spelling stand together, likeliest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pinyin/syllables.h"

namespace laya::pinyin {

using WordIndex = std::uint32_t;
using NodeIndex = std::uint32_t;
using CharIndex = std::uint16_t;
inline constexpr NodeIndex kRootNode = 0;
inline constexpr NodeIndex kNoNode = 0xFFFFFFFF;

/// A word under one of its spellings.
struct Word {
  std::uint32_t text = 0;        ///< byte offset; Lexicon::text() reads it
  std::uint32_t first_char = 0;  ///< Lexicon::characters() reads them
  std::uint8_t bytes = 0;
  std::uint8_t chars = 0;
  std::uint32_t model_word = 0;  ///< the WordModel's number
  float cost = 0;                ///< ≤ 0: ln of how rarely the word is read so
  float log_prob = 0;            ///< ln p(word) without context, cost included: the order here
};

struct Node {
  NodeIndex first_child = 0;  ///< children stand together, by syllable
  WordIndex first_word = 0;
  std::uint32_t words = 0;
  std::uint16_t children = 0;
  SyllableId syllable = kNoSyllable;
};

class Lexicon {
 public:
  std::size_t size() const { return words_.size(); }
  const Word& word(WordIndex word) const { return words_[word]; }
  std::string_view text(const Word& word) const {
    return std::string_view(texts_).substr(word.text, word.bytes);
  }
  /// The word's characters, as indices into code_points().
  std::span<const CharIndex> characters(const Word& word) const {
    return std::span(chars_).subspan(word.first_char, word.chars);
  }
  std::span<const char32_t> code_points() const { return code_points_; }

  const Node& node(NodeIndex node) const { return nodes_[node]; }
  /// The child by `syllable`, kNoNode without. O(log children).
  NodeIndex child(NodeIndex node, SyllableId syllable) const;
  /// The children whose syllables lie in `range`: nodes [first, second).
  std::pair<NodeIndex, NodeIndex> children(NodeIndex node, SyllableRange range) const;

  std::size_t size_bytes() const;

 private:
  friend class LexiconBuilder;
  std::string texts_;
  std::vector<CharIndex> chars_;
  std::vector<char32_t> code_points_;
  std::vector<Word> words_;
  std::vector<Node> nodes_;
};

/// Collects words in any order.
class LexiconBuilder {
 public:
  static constexpr std::size_t kMaxSyllables = 15;
  static constexpr std::size_t kMaxWordBytes = 255;

  /// `syllables` in order, `cost` and `log_prob` as in Word. BadArgument for a word without
  /// syllables, with more than kMaxSyllables, or longer than kMaxWordBytes; Corrupt where it is not
  /// UTF-8.
  Status add(std::span<const SyllableId> syllables, std::string_view text, std::uint32_t model_word,
             float cost, float log_prob);
  /// TooLarge for more distinct characters than CharIndex can number. The builder is empty behind
  /// it.
  Result<Lexicon> build();

 private:
  struct Entry {
    std::uint32_t syllables = 0;  ///< offset into syllables_
    std::uint32_t count = 0;
    Word word;
  };
  std::string texts_;
  std::vector<SyllableId> syllables_;
  std::vector<Entry> entries_;
};

}  // namespace laya::pinyin

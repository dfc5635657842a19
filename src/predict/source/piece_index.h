// PieceIndex: which pieces of the vocabulary are whole words, which words they spell in any case,
// which are Han characters.
//
// Built once by Engine::open (a few ms for 16 k pieces), immutable, shared. It joins the two
// worlds: the network's pieces and the n-gram table's words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/token_id.h"
#include "model/ngram/ngram.h"
#include "text/vocabulary.h"

namespace laya::predict {

inline constexpr std::uint32_t kNoGroup = 0xFFFFFFFFu;

/// A word the network can spell with one piece: all case variants ("The ", "the ", "the"), one
/// lower-case key.
struct WordGroup {
  std::uint32_t key_offset;  ///< into the key bytes
  std::uint32_t key_length;
  std::uint32_t first;  ///< into pieces(): count entries
  std::uint32_t count;
  model::WordId word;  ///< of the n-gram table; kUnknownWord without
};

/// One piece of a group.
struct GroupPiece {
  TokenId token;
  bool ends_in_space;  ///< "the ": the word is over; "the": punctuation, a line end or a suffix
                       ///< follows
};

struct HanPiece {
  TokenId token;  ///< kNoToken: the vocabulary has no piece for it
  char32_t code_point;
  model::WordId word;  ///< kUnknownWord without
};

/// What a piece does to a phrase that is being built (ghost_search.h).
enum class PieceRole : std::uint8_t {
  WordEnd,   ///< letters and a space: "the "
  WordPart,  ///< letters: "the", "don"
  Apostrophe,
  Han,
  Mark,  ///< punctuation that may stand inside a phrase: , . ! ? ， 。 and their kin, with or
         ///< without a space
  Stop,  ///< everything that no phrase may hold: symbols, bytes, digits, newline, BOS, brackets, …
};

class PieceIndex {
 public:
  /// Either may be nullptr, not both. They must outlive the index.
  PieceIndex(const text::Vocabulary* vocabulary, const model::NgramModel* ngrams);

  std::span<const WordGroup> groups() const { return groups_; }  ///< sorted by key
  std::string_view key(const WordGroup& group) const {
    return std::string_view(keys_).substr(group.key_offset, group.key_length);
  }
  std::span<const GroupPiece> pieces(const WordGroup& group) const {
    return std::span(pieces_).subspan(group.first, group.count);
  }
  /// Indices [first, second) of the groups whose key begins with `lower_prefix`.
  std::pair<std::uint32_t, std::uint32_t> with_prefix(std::string_view lower_prefix) const;
  /// The group of a key or of an n-gram word; kNoGroup without.
  std::uint32_t find(std::string_view key) const;
  std::uint32_t group_of(model::WordId word) const {
    return word < group_of_word_.size() ? group_of_word_[word] : kNoGroup;
  }
  /// The group a piece belongs to; kNoGroup for other pieces.
  std::uint32_t group_of_token(TokenId token) const { return group_of_token_[token]; }

  std::span<const HanPiece> han() const { return han_; }
  /// Index into han(), or kNoGroup.
  std::uint32_t han_of_word(model::WordId word) const {
    return word < han_of_word_.size() ? han_of_word_[word] : kNoGroup;
  }
  std::uint32_t han_of_token(TokenId token) const { return han_of_token_[token]; }

  PieceRole role(TokenId token) const { return roles_[token]; }
  /// Pieces that end the word before them: punctuation, brackets, the newline; nothing that could
  /// go on inside one.
  std::span<const TokenId> word_enders() const { return word_enders_; }
  /// The same piece without its space ("the" of "the "); kNoToken where the vocabulary has none.
  TokenId without_space(TokenId token) const { return without_space_[token]; }

 private:
  void index_vocabulary(const text::Vocabulary& vocabulary, const model::NgramModel* ngrams);
  void add_han_of(const model::NgramModel& ngrams);

  std::string keys_;
  std::vector<WordGroup> groups_;
  std::vector<GroupPiece> pieces_;
  std::vector<std::uint32_t> group_of_word_;
  std::vector<std::uint32_t> group_of_token_;
  std::vector<HanPiece> han_;
  std::vector<std::uint32_t> han_of_word_;
  std::vector<std::uint32_t> han_of_token_;
  std::vector<PieceRole> roles_;
  std::vector<TokenId> without_space_;
  std::vector<TokenId> word_enders_;
};

}  // namespace laya::predict

// DeepIndex: what a decoder's tokens mean to prediction — which spell a word from its first letter
// to its last, which go on inside a word, which Han character they begin with.
//
// Built once with the model (0.2 s for 262 k tokens and 60 k words), immutable, shared.
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
#include "predict/source/piece_index.h"
#include "text/subword_tokenizer.h"

namespace laya::predict {

/// What stands between the text and the word's first letter, inside the token.
enum class DeepLead : std::uint8_t { None, Space };

/// A word that one token spells: all its forms ("The", " the", " THE") under one lower-case key.
struct DeepGroup {
  std::uint32_t key_offset;
  std::uint32_t key_length;
  std::uint32_t first;  ///< into entries(): count
  std::uint32_t count;
  model::WordId word;   ///< of the n-gram table; kUnknownWord without
  std::uint32_t group;  ///< PieceIndex's; kNoGroup without
  /// How often the token is the whole word where it begins one: the table's words that the
  /// tokenizer spells with this token and more count against it. " pre" 0.01, " the" 1.
  float ends;
};

struct DeepEntry {
  TokenId token;
  DeepLead lead;
};

/// A token that goes on inside a word when it stands behind letters.
struct DeepGoingOn {
  TokenId token;
  float share;  ///< 1: letters follow; less for an apostrophe alone, which may be a closing quote
};

class DeepIndex {
 public:
  /// DeepGroup::ends where no table says anything: either is as likely.
  static constexpr float kEndsUnknown = 0.5F;

  /// All must outlive the index; `ngrams` may be nullptr.
  DeepIndex(const text::SubwordTokenizer& tokenizer, const PieceIndex& pieces,
            const model::NgramModel* ngrams);

  std::span<const DeepGroup> groups() const { return groups_; }  ///< sorted by key
  std::string_view key(const DeepGroup& group) const {
    return std::string_view(keys_).substr(group.key_offset, group.key_length);
  }
  std::span<const DeepEntry> entries(const DeepGroup& group) const {
    return std::span(entries_).subspan(group.first, group.count);
  }
  const DeepEntry& entry(std::uint32_t i) const { return entries_[i]; }  ///< DeepGroup::first …
  /// Indices [first, second) of the groups whose key begins with `lower_prefix`.
  std::pair<std::uint32_t, std::uint32_t> with_prefix(std::string_view lower_prefix) const;
  /// kNoGroup without.
  std::uint32_t find(std::string_view key) const;
  std::uint32_t group_of_token(TokenId token) const { return group_of_token_[token]; }
  /// The same for a word as the other sources know it: the table's id, PieceIndex's group, or key.
  std::uint32_t group_of(model::WordId word, std::uint32_t piece_group, std::string_view key) const;

  /// How likely a word is over behind `token`, which began or continued it, before it was looked
  /// into.
  float ends(TokenId token) const {
    const std::uint32_t group = group_of_token_[token];
    return group == kNoGroup ? kEndsUnknown : groups_[group].ends;
  }
  std::span<const DeepGoingOn> going_on() const { return going_on_; }

  /// PieceIndex's number of the Han character that the token's bytes begin with; kNoGroup without.
  std::uint32_t first_han(TokenId token) const { return first_han_[token]; }
  std::uint32_t han_at(std::string_view bytes) const;
  /// Most common Han characters are tokens of their own.
  bool knows_han() const { return knows_han_; }

 private:
  void index_words(const text::SubwordTokenizer& tokenizer, const PieceIndex& pieces,
                   const model::NgramModel* ngrams);
  void weigh_ends(const text::SubwordTokenizer& tokenizer, const model::NgramModel* ngrams);
  void index_han(const text::SubwordTokenizer& tokenizer, const PieceIndex& pieces);

  std::string keys_;
  std::vector<DeepGroup> groups_;
  std::vector<DeepEntry> entries_;
  std::vector<std::uint32_t> group_of_token_;
  std::vector<std::uint32_t> group_of_word_;
  std::vector<std::uint32_t> group_of_piece_;
  std::vector<DeepGoingOn> going_on_;
  std::vector<std::uint32_t> first_han_;
  std::vector<std::pair<char32_t, std::uint32_t>> han_;  // sorted: PieceIndex's number
  bool knows_han_ = false;
};

}  // namespace laya::predict

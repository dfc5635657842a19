// Lexicon: the words of a language with how frequent they are. It knows many more than network and
// table do: it completes rare words, says what is a word at all, and is what corrections are looked
// up in.
//
// One mmapped, immutable trie (lexicon_layout.h), shared by all sessions and threads; walking it
// allocates nothing. Made by `laya train lexicon` (src/train/lexicon/lexicon_builder.h).
//
//   auto lexicon = Lexicon::open("models/lexicon/en.laya");
//   (*lexicon)->is_word("don't");                    // true
//   std::array<Completion, 5> best;
//   size_t n = (*lexicon)->complete("serend", best);  // serendipity, …
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "predict/offers/lexicon_layout.h"

namespace laya::predict {

/// Finds a blob by name; an empty span where there is none. Blobs start on 8-byte boundaries.
using LexiconBlobs = std::function<std::span<const std::byte>(std::string_view name)>;

/// A word found by its beginning.
struct Completion {
  std::array<char, kLexiconMaxWordBytes> bytes;
  std::uint8_t length = 0;
  std::uint32_t word = 0;  ///< index of the word
  float log_prob = 0;      ///< ln p(word), whatever the context

  std::string_view key() const { return {bytes.data(), length}; }  ///< lower case
};

class Lexicon {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNoNode = 0xFFFFFFFFu;
  static constexpr std::uint32_t kNoWord = 0xFFFFFFFFu;

  /// Maps a `.laya` file. Errors: Io; Corrupt, Version (name file and blob).
  static Result<std::shared_ptr<const Lexicon>> open(const std::string& path);
  /// The same from blobs in memory, which must outlive it (tests, fuzzing). Sizes are checked here;
  /// places inside the trie at each step, so that a hostile file gives wrong words, never a crash.
  static Result<Lexicon> from_blobs(const LexiconBlobs& blobs, std::string_view name_for_errors);

  // --- words ---
  std::size_t size() const { return header_.word_count; }
  /// The word spelt `lower` (lower case, ’ as '), or kNoWord. O(length).
  std::uint32_t find(std::string_view lower) const;
  /// Whether `lower` is written correctly as far as is known: a word, or one with 's or ' behind.
  bool is_word(std::string_view lower) const;
  float log_prob(std::uint32_t word) const;  ///< ln p(word); ≤ 0
  bool is_silent(std::uint32_t word) const;  ///< known, never offered
  LexiconForm form(std::uint32_t word) const {
    return static_cast<LexiconForm>(forms_[word] & kLexiconFormMask);
  }
  /// ln p(a word is none of the lexicon's).
  float log_unknown() const { return header_.log_unknown; }
  /// ln p(spelt like this | some word): a trigram of letters. How much it looks like English.
  float log_spelling(std::string_view lower) const;
  /// Writes `lower` as the word is usually written inside a sentence ("London", "NASA", "iPhone");
  /// returns the bytes written, 0 where it does not fit.
  std::size_t write_form(std::uint32_t word, std::string_view lower, std::span<char> out) const;

  /// The most frequent words that begin with `prefix` and are longer, best first (ties: shorter,
  /// then by bytes); returns how many. Silent ones are left out. At most a few hundred steps.
  std::size_t complete(std::string_view prefix, std::span<Completion> out) const;

  // --- the trie ---
  Node child(Node node, std::uint8_t byte) const;
  Node walk(Node node, std::string_view bytes) const;
  /// The first of a node's children, or kNoNode; the others one after the other, sorted by label.
  Node first_child(Node node) const;
  Node next_sibling(Node node) const;
  std::uint8_t label(Node node) const { return labels_[node]; }
  /// ln p of the most frequent word at or below.
  float best(Node node) const { return -header_.code_step * static_cast<float>(best_[node]); }
  /// The word that ends at `node`, or kNoWord.
  std::uint32_t word_at(Node node) const;

 private:
  bool is_last(Node node) const { return bit(block(node).last, node); }
  static bool bit(std::uint64_t bits, Node node) { return ((bits >> (node & 63)) & 1) != 0; }
  const LexiconBlock& block(Node node) const { return blocks_[node / kLexiconBlockNodes]; }

  std::shared_ptr<const void> file_;  // what the views point into; empty for foreign bytes
  LexiconHeader header_{};
  std::span<const std::uint8_t> labels_;
  std::span<const std::uint8_t> best_;
  std::span<const LexiconBlock> blocks_;
  std::span<const std::uint8_t> codes_;
  std::span<const std::uint8_t> forms_;
  std::span<const std::uint32_t> written_;
  std::span<const std::uint32_t> written_offsets_;
  std::span<const char> written_text_;
  std::span<const std::uint8_t> letters_;
};

}  // namespace laya::predict

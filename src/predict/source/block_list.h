// BlockList: what is never suggested, by any source: self-harm, slurs, personal data, and the junk
// that a table of other people's messages holds (nicknames, glued words).
//
// Applied where candidates become visible: list, Chinese words, ghosts of both tiers, offers of all
// sources, late and remote answers. What the user types is never touched or judged: an entry that
// was typed to its end blocks nothing that follows it.
//
// A list is made of text files (models/block/*.txt, UTF-8), one entry a line:
//   # comment
//   [en self-harm]     the entries below: language and reason
//   hurt myself        whole words in a row; case, punctuation and the kind of space do not matter
//   suicid*            every word that begins so
//   自杀               Chinese: wherever these characters stand side by side
// In a section whose reason is "junk" every entry is one whole word, which may be very many.
// Beside the entries, of any language: an '@' inside a word and kDigits digits in a row look like
// somebody's address or number.
//
// Immutable, thread-safe; no allocation after construction; O(length of the candidate).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::predict {

/// What of the text before a candidate a block list must remember; made by BlockList::after().
struct BlockContext {
  /// Entries that may be going on at once: one for each word, or Chinese character, that began one.
  static constexpr std::size_t kActive = 8;
  std::array<std::uint32_t, kActive> nodes{};
  std::uint8_t active = 0;
  std::uint8_t digits = 0;      ///< digits in a row at the end
  bool in_word = false;         ///< the text ends inside a word of letters and digits
  bool apostrophe = false;      ///< with an apostrophe behind it that may belong to it
  bool stem = false;            ///< that begins with a blocked stem
  bool after_word = false;      ///< what came last was a word, no Chinese character
  bool gap = false;             ///< and something stood behind it that is neither
  bool at_sign = false;         ///< the last byte is an '@' behind a word
  std::uint64_t word_hash = 0;  ///< of the word so far
};

class BlockList {
 public:
  static constexpr std::size_t kDigits = 6;          ///< so many in a row are a number of somebody
  static constexpr std::size_t kMaxEntryBytes = 96;  ///< longer entries are refused
  static constexpr std::size_t kMaxEntries = 1U << 20U;

  /// Only the two rules about '@' and digits.
  BlockList();

  /// Reads a file, or every "*.txt" of a folder in the order of their names. Errors: Io; Corrupt
  /// names file, line and what is wrong with it.
  static Result<BlockList> open(const std::string& path);
  /// The same from texts in memory (tests, fuzzing); `name` is for errors.
  static Result<BlockList> parse(std::string_view text, std::string_view name);

  /// True if `candidate` (words, or a phrase) holds what is blocked. Any bytes.
  bool blocks(std::string_view candidate) const;
  /// True if `candidate`, put behind `before`, completes or begins something blocked: "kill " and
  /// "myself", "kill my" and "self". What stands in `before` alone blocks nothing.
  bool blocks_after(std::string_view before, std::string_view candidate) const;

  /// The same in two steps, for many candidates behind one text.
  BlockContext after(std::string_view before) const;
  bool blocks(const BlockContext& context, std::string_view candidate) const;

  std::size_t size() const { return entries_; }  ///< entries read
  std::size_t size_bytes() const;                ///< memory of the tables

 private:
  class Parser;
  class Walk;
  /// How an entry ends: with its word, inside it, or with a Chinese character.
  enum class End : std::uint8_t { No, Word, Anywhere };
  struct Node {
    std::uint32_t first_child = 0;
    std::uint16_t children = 0;
    std::uint8_t label = 0;
    End end = End::No;
  };
  struct Entry {
    std::string key;
    End end;
  };

  void build(std::vector<Entry> entries, std::vector<std::uint64_t> words);
  std::uint32_t child(std::uint32_t node, std::uint8_t label) const;
  bool holds_word(std::uint64_t hash) const;

  std::vector<Node> nodes_;                // a byte trie, breadth first; [0] is the root
  std::array<std::uint32_t, 256> root_{};  // its children by their byte; 0: none
  std::vector<std::uint64_t> words_;       // hashes of junk, open addressing, 0 is free
  std::size_t entries_ = 0;
};

}  // namespace laya::predict

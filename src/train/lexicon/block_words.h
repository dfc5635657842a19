// Which words of a training text are junk that must never be suggested: nicknames, glued words
// ("seeit"), slips. A rule over counts, no list by hand.
//
// A word may be suggested if somebody vouches for it:
//   - a dictionary has it (or has it without "'s"), or
//   - a text that was written for the public has it at least `published_count` times, or
//   - at least `least_sources` texts of any kind have it, or
//   - one text of people's messages has it all over: in `least_parts` of `parts` equal parts of it.
//     A name of somebody's friend is in the few parts that the friend's messages fill, slang is
//     everywhere: in the NUS messages "andreu" is in 3 of 64 parts, "seeit" in 1, "lah" in 41.
// Everything else is junk. `laya train block-words` writes models/block/junk.txt by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace laya::train {

struct BlockWordsOptions {
  std::size_t parts = 64;
  std::size_t least_parts = 12;
  std::size_t least_sources = 3;
  std::size_t published_count = 2;
};

/// What kind of text it is: written for the public, or messages between people.
enum class TextKind : std::uint8_t { Published, Messages };

class BlockWords {
 public:
  explicit BlockWords(const BlockWordsOptions& options) : options_(options) {}

  /// Every word of `text` (a word list, a dictionary's examples) is known. What stands behind a '/'
  /// on a line (hunspell's flags) is not read.
  void add_dictionary(std::string_view text);
  void add_text(std::string_view text, TextKind kind);

  /// The junk, sorted. Lower case; words of one letter are never junk.
  std::vector<std::string> junk() const;
  std::size_t words() const { return seen_.size(); }

 private:
  struct Seen {
    std::uint32_t sources = 0;
    std::uint32_t published = 0;   ///< most occurrences in one published text
    std::uint32_t most_parts = 0;  ///< of a text of messages
    std::uint32_t count = 0;       ///< in the text that is being read
    std::uint32_t parts = 0;
    std::uint32_t last_part = 0;  ///< counted from 1
  };

  BlockWordsOptions options_;
  std::unordered_set<std::string> known_;
  std::unordered_map<std::string, Seen> seen_;
};

}  // namespace laya::train

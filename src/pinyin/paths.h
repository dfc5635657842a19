// Which words can end at the letter typed last: every way to cut the letters into syllables, walked
// through the lexicon as they come.
//
// A path is a beginning of a word of the lexicon that spells the letters from `start` to some later
// place. Paths that end at one place depend on the letters before it only, so a letter adds one
// column of paths and taking it back drops it: nothing is computed twice. Syllables may be written
// in short by their initial (zhg: zhong guo; a path counts how many). The syllable typed last may
// be unfinished (zho): such *open* paths exist for the present end only.
//
// Letters: a-z; an apostrophe ends a syllable; anything else (capitals, digits, signs) is literal
// and no path crosses it. One thread. No allocation once the longest input so far was seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pinyin/lexicon.h"

namespace laya::pinyin {

enum class LastSyllable : std::uint8_t { Whole, Short, Open };

struct Path {
  std::uint16_t start = 0;     ///< letters before the path
  std::uint8_t shortened = 0;  ///< syllables written by their initial only, the last one included
  LastSyllable last = LastSyllable::Whole;
  NodeIndex node = kRootNode;
};

class Paths {
 public:
  /// Longest input.
  static constexpr std::size_t kMaxLetters = 512;
  /// Most paths that end at one place: what `sss…` would have without bound.
  static constexpr std::size_t kMaxPaths = 768;

  /// `lexicon` must outlive this.
  explicit Paths(const Lexicon& lexicon);

  void clear();
  /// Adds a letter. At kMaxLetters nothing happens.
  void push(char letter);
  /// Takes the last letter back; nothing where there is none.
  void pop();

  std::string_view letters() const { return letters_; }
  /// The paths that end behind the last letter, by start; open ones not among them.
  std::span<const Path> here() const { return ending_at(letters_.size()); }
  /// Those that end behind the first `place` letters.
  std::span<const Path> ending_at(std::size_t place) const;
  /// The open ones, by start.
  std::span<const Path> open() const { return open_; }
  bool is_literal(std::size_t letter) const;

 private:
  void extend(std::size_t from, SyllableRange range, LastSyllable last, std::vector<Path>* out);
  void find_open();

  const Lexicon* lexicon_;
  std::string letters_;
  std::vector<Path> paths_;           // columns, one behind the other
  std::vector<std::uint32_t> begin_;  // [letters + 1] where each column begins; [0] is empty
  std::vector<Path> scratch_;
  std::vector<Path> open_;
};

}  // namespace laya::pinyin

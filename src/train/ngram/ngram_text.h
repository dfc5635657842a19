// The n-gram builder's first step: texts cut into units, a lexicon chosen from them, and everything
// as ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/ngram/ngram.h"

namespace laya::train {

/// What the lexicon keeps.
struct NgramLexiconOptions {
  double min_weight =
      2.0;  ///< of a word or symbol: sum of its occurrences times their sources' weights
  double min_han_weight = 0.5;       ///< the same for a Han character
  std::uint32_t max_common = 60000;  ///< units that may stand in n-grams, at most 65,536; by weight
  std::uint32_t max_units = 120000;  ///< with the rare words
};

/// One source's stretch of NgramText::ids.
struct NgramStretch {
  std::size_t begin;
  std::size_t end;
  double weight;  ///< what one occurrence counts
};

/// All training text as ids of the final lexicon (sorted as ngram_layout.h demands). Rare words
/// stand as kUnknownWord in `ids`.
struct NgramText {
  std::vector<std::uint32_t> ids;       ///< kLineStart … kLineEnd, line after line
  std::vector<NgramStretch> stretches;  ///< in the order added
  std::vector<std::string> keys;        ///< [id]; empty for the fixed ids
  std::vector<std::string> displays;    ///< [id]; empty where it is the key
  std::vector<double>
      weights;  ///< [id] weighted occurrences; kUnknownWord: of all outside the common units
  std::uint32_t han_begin = 0;
  std::uint32_t word_begin = 0;
  std::uint32_t common_count = 0;
};

/// Each of `sequences` ("on Monday", "明天") as ids; those with a unit outside the common units are
/// left out.
std::vector<std::vector<std::uint32_t>> ids_of_sequences(const NgramText& text,
                                                         const std::vector<std::string>& sequences);

/// Usage: add() each source, add_words() each word list, then finish().
class NgramTextReader {
 public:
  NgramTextReader();

  /// Reads `text` line by line; blank lines are skipped. `cased`: how far the source's capitals are
  /// to be trusted for the display form, 0 (chat) to 1 (edited text). At most 2^32 - 1 units in
  /// all.
  void add(std::string_view text, double weight, double cased);

  /// Lets every word of `text` (one a line) into the lexicon with at least `weight` occurrences,
  /// but into no n-gram.
  void add_words(std::string_view text, double weight);

  NgramText finish(const NgramLexiconOptions& options) &&;

 private:
  std::uint32_t intern(std::string_view key);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> index_;
  std::vector<std::uint32_t>
      han_index_;  ///< of the code points below U+10000, so that most Han needs no string
  std::vector<std::string> keys_;
  std::vector<double> weights_;
  std::vector<double> lower_casing_;  ///< [unit] trusted occurrences written in lower case
  std::unordered_map<std::string, double, Hash, std::equal_to<>>
      upper_casing_;  ///< form ▶ the same
  std::vector<std::uint32_t> ids_;
  std::vector<NgramStretch> stretches_;
};

}  // namespace laya::train

// The words that letters may have been meant as: one walk over the lexicon's trie with a row of
// edit costs a node (Wagner & Fischer 1974, with Damerau's swap), as deep as the costs allow.
//
// Bounds: the noise of a row's cheapest cell, and that noise less ln p of the most frequent word
// below, against the best word found so far. Two rounds, the first for single slips: what it finds
// makes the second short.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "predict/offers/edit_noise.h"
#include "predict/offers/lexicon.h"

namespace laya::predict {

enum class Typing : std::uint8_t;

struct FoundWord {
  std::array<char, kLexiconMaxWordBytes> bytes;
  std::uint8_t length = 0;
  std::uint32_t word = 0;
  float log_prob = 0;   ///< ln p(word), whatever the context
  float log_noise = 0;  ///< ln p(typed | word)

  std::string_view key() const { return {bytes.data(), length}; }
  float cost() const { return -log_prob - log_noise; }
};

class CorrectionSearch {
 public:
  static constexpr std::size_t kMaxFound = 32;
  static constexpr std::size_t kMaxTyped = 24;  ///< letters

  CorrectionSearch(const Lexicon& lexicon, const NoiseCosts& costs);

  /// The likeliest words for `typed` (lower-case ASCII letters and apostrophes, at most kMaxTyped),
  /// likeliest first, at most kMaxFound, none costlier than `limit` nats (FoundWord::cost).
  /// `typed` itself is not among them, nor, while typing is Open, what only completes it. Lives
  /// until the next call. No allocation.
  std::span<const FoundWord> find(std::string_view typed, Typing typing, float limit);

 private:
  static constexpr std::size_t kBand = 3;  // letters that typed and meant may be apart
  static constexpr std::size_t kMaxDepth = kMaxTyped + kBand + 1;
  static constexpr std::size_t kLetters = 28;
  using Row = std::array<float, kMaxTyped + 2>;

  void walk(Lexicon::Node node, std::size_t depth);
  float fill_row(std::uint8_t meant, std::size_t depth);
  void found_at(Lexicon::Node node, std::size_t depth, float noise);
  void complete_from(Lexicon::Node node, std::size_t depth, float noise);
  void add(std::string_view word, std::uint32_t index, float noise);

  const Lexicon* lexicon_;
  NoiseCosts costs_;
  std::array<std::array<float, kLetters>, kLetters> substitution_;  // [meant][typed]
  std::array<float, kLetters> omission_;                            // [meant]

  // Of the present call.
  std::string_view typed_;
  bool completes_ = false;
  float limit_ = 0;
  float noise_limit_ = 0;
  std::array<std::uint8_t, kMaxTyped + 2> kinds_;  // of typed_
  std::array<float, kMaxTyped + 1> insertion_;     // of typed_[i]
  std::array<Row, kMaxDepth + 1> rows_;            // [depth][letters typed]
  std::array<char, kMaxDepth + 1> path_;
  std::array<FoundWord, kMaxFound> found_;
  std::size_t count_ = 0;
};

}  // namespace laya::predict

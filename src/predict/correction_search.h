// The words that letters may have been meant as, cheapest first: a best-first walk over trie and
// typed letters at once (A*; Hart, Nilsson & Raphael 1968). A node's cost is the noise so far less
// ln p of the most frequent word below it, which never overestimates, so words come in order of
// noise × frequency and the walk ends when enough are found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "predict/edit_noise.h"
#include "predict/lexicon.h"

namespace laya::predict {

enum class Typing : std::uint8_t;

struct FoundWord {
  std::array<char, kLexiconMaxWordBytes> bytes;
  std::uint8_t length = 0;
  std::uint32_t word = 0;
  float log_prob = 0;   ///< ln p(word), whatever the context
  float log_noise = 0;  ///< ln p(typed | word)

  std::string_view key() const { return {bytes.data(), length}; }
};

class CorrectionSearch {
 public:
  static constexpr std::size_t kMaxFound = 32;

  CorrectionSearch(const Lexicon& lexicon, const NoiseCosts& costs);

  /// At most kMaxFound words for `typed` (lower-case ASCII letters and apostrophes), none costlier
  /// than `limit` nats (−log_prob − log_noise). `typed` itself, if it is a word, is among them.
  /// Lives until the next call. No allocation.
  std::span<const FoundWord> find(std::string_view typed, Typing typing, float limit);

 private:
  static constexpr std::size_t kStates = 8192;
  static constexpr std::size_t kSeen = 4 * kStates;

  struct State {
    float cost;   // noise so far
    float bound;  // cost − ln p of the best word at or below; exact for a word
    Lexicon::Node node;
    std::uint16_t parent;
    std::uint8_t typed;  // letters consumed
    std::uint8_t slips;
    bool is_word;
  };

  void push(std::size_t parent, Lexicon::Node node, std::size_t consumed, float cost,
            std::size_t slips);
  void push_word(std::size_t parent, std::uint32_t word);
  void expand(std::size_t index, std::string_view typed, Typing typing);
  bool first_visit(const State& state);
  void spell(std::size_t index, FoundWord* out) const;

  const Lexicon* lexicon_;
  NoiseCosts costs_;
  float limit_ = 0;
  std::vector<State> states_;
  std::vector<std::uint16_t> heap_;
  std::vector<std::uint64_t> seen_;  // node << 16 | typed << 8 | …, tagged by generation
  std::vector<std::uint32_t> seen_generation_;
  std::uint32_t generation_ = 0;
  std::array<FoundWord, kMaxFound> found_;
};

}  // namespace laya::predict

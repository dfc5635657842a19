// Han: the next Chinese character, and words of up to four characters grown from the likeliest
// ones.
//
// Every Han character is one piece and one unit of the table, so the next character's distribution
// is there as soon as the text is read. Longer words: the table names what may follow, the network
// is asked about those only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "predict/instant/network_source.h"
#include "predict/instant/ngram_source.h"
#include "predict/list/search_sources.h"
#include "predict/source/mixing.h"

namespace laya::predict {

/// A word of 1…kMaxHan characters.
struct HanWord {
  static constexpr std::size_t kMaxHan = 4;
  std::array<std::uint32_t, kMaxHan> han{};  ///< indices into PieceIndex::han()
  std::size_t length = 0;
  float log_prob = kImpossible;
  float log_p_network = kImpossible;  ///< of the first character
  float log_p_ngram = kImpossible;
  float log_p_deep = kImpossible;
  bool from_network = false;
  bool from_ngram = false;
  bool from_deep = false;
  NodeId node = kRoot;  ///< the tree's node behind as many of the characters as were looked into
  model::NgramContext context;  ///< behind the word
};

class HanSearch {
 public:
  static constexpr std::size_t kPool = 64;

  /// The likeliest next characters, best first, ties by code point; mixed scores.
  std::size_t next(const SearchSources& sources, const TypedText& text, const Shares& shares,
                   std::span<HanWord> out);

  /// All that the last next() weighed, in no order; empty after forget().
  std::span<const HanWord> weighed() const { return std::span(pool_).first(count_); }
  void forget() { count_ = 0; }

  /// Grows each of `words` (single characters) while what follows is nearly certain; at most two
  /// passes. A word that has grown replaces the one it grew from.
  void extend(const SearchSources& sources, const Shares& shares, std::span<HanWord> words);

 private:
  std::array<HanWord, 3 * kPool> pool_;
  std::size_t count_ = 0;
};

}  // namespace laya::predict

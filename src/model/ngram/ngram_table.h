// The n-gram table as its own files see it: ngram_read.cpp fills it, ngram.cpp looks things up,
// ngram_recent.cpp mixes the session's recent units in. Not for others; they include ngram.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/ngram/ngram.h"
#include "model/ngram/ngram_layout.h"

namespace laya::model {
namespace ngram_detail {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
inline constexpr float kNever = -std::numeric_limits<float>::infinity();
// Units whose best probability is kept together, so that the unigram level is not scanned one by
// one.
inline constexpr std::size_t kBlock = 64;

/// Ids [begin, end).
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Level {
  std::span<const std::uint16_t> words;
  std::span<const std::uint8_t> probs;
  std::span<const std::uint64_t> parents;
  std::span<const std::uint32_t> ranks;
  std::span<const std::uint32_t> begin;
  std::span<const std::uint8_t> backoff;
};

inline bool better(const Scored& a, const Scored& b) {
  return a.log_prob > b.log_prob || (a.log_prob == b.log_prob && a.word < b.word);
}

/// The best so far, best first, in the caller's span.
class Best {
 public:
  explicit Best(std::span<Scored> out) : out_(out) {}

  /// What a candidate must reach; nothing reaches an empty list.
  float threshold() const {
    if (out_.empty()) {
      return -kNever;
    }
    return size_ < out_.size() ? kNever : out_[size_ - 1].log_prob;
  }
  std::size_t size() const { return size_; }

  void insert(const Scored& candidate) {
    if (size_ == out_.size()) {
      if (!better(candidate, out_[size_ - 1])) {
        return;
      }
      --size_;
    }
    std::size_t at = size_++;
    for (; at > 0 && better(candidate, out_[at - 1]); --at) {
      out_[at] = out_[at - 1];
    }
    out_[at] = candidate;
  }

 private:
  std::span<Scored> out_;
  std::size_t size_ = 0;
};

}  // namespace ngram_detail

struct NgramModel::Table {
  using Range = ngram_detail::Range;
  using Level = ngram_detail::Level;
  using Best = ngram_detail::Best;
  static constexpr std::uint32_t kNone = ngram_detail::kNone;

  NgramHeader header{};
  std::span<const std::uint32_t> lexicon_offsets;
  std::string_view lexicon_text;
  std::span<const std::uint32_t> display_ids;
  std::span<const std::uint32_t> display_offsets;
  std::string_view display_text;
  std::span<const float> unigram;
  std::array<Level, kNgramMaxOrder> levels;  // [k - 1]; of [0] only begin and backoff
  std::vector<float> block_best;             // of each kBlock ids, the largest unigram
  std::size_t size_bytes = 0;

  std::string_view key(WordId word) const {
    if (word < kFirstLexiconWord || word >= header.unit_count) {
      return {};
    }
    return slice(lexicon_offsets, word - kFirstLexiconWord, lexicon_text);
  }

  static std::string_view slice(std::span<const std::uint32_t> offsets, std::size_t index,
                                std::string_view text) {
    const std::size_t end = std::min<std::size_t>(offsets[index + 1], text.size());
    const std::size_t begin = std::min<std::size_t>(offsets[index], end);
    return text.substr(begin, end - begin);
  }

  WordId find_in(Range range, std::string_view lower) const {
    const WordId at = first_not_less(range, lower);
    return at < range.end && key(at) == lower ? at : kUnknownWord;
  }

  WordId first_not_less(Range range, std::string_view lower) const {
    while (range.begin < range.end) {
      const std::uint32_t middle = range.begin + (range.end - range.begin) / 2;
      if (key(middle) < lower) {
        range.begin = middle + 1;
      } else {
        range.end = middle;
      }
    }
    return range.begin;
  }

  /// The part of the sorted `range` whose keys begin with `prefix`.
  Range with_prefix(Range range, std::string_view prefix) const {
    if (prefix.empty()) {
      return range;
    }
    const WordId begin = first_not_less(range, prefix);
    Range rest{begin, range.end};
    while (rest.begin < rest.end) {
      const std::uint32_t middle = rest.begin + (rest.end - rest.begin) / 2;
      if (key(middle).starts_with(prefix)) {
        rest.begin = middle + 1;
      } else {
        rest.end = middle;
      }
    }
    return {begin, rest.begin};
  }

  Range symbols() const { return {kFirstLexiconWord, header.han_begin}; }
  Range han() const { return {header.han_begin, header.word_begin}; }
  Range common_words() const { return {header.word_begin, header.common_count}; }
  Range rare_words() const { return {header.common_count, header.unit_count}; }

  /// The unit by which `word` stands in n-grams.
  WordId common(WordId word) const { return word < header.common_count ? word : kUnknownWord; }

  /// The children of `node` of level `k`, as places in level k + 1. Clamped: the file is not
  /// trusted.
  Range children(std::uint32_t k, std::uint32_t node) const {
    const Level& level = levels[k - 1];
    if (node >= level.backoff.size() || k >= header.order) {
      return {};
    }
    const auto entries = static_cast<std::uint32_t>(levels[k].words.size());
    const std::uint32_t end = std::min(level.begin[node + 1], entries);
    return {std::min(level.begin[node], end), end};
  }

  float backoff(std::uint32_t k, std::uint32_t node) const {
    const Level& level = levels[k - 1];
    return node < level.backoff.size() ? header.backoff_table[k - 1][level.backoff[node]] : 0.0f;
  }

  /// First place in `places` of level k whose unit is not less than `word`.
  std::uint32_t lower_bound(std::uint32_t k, Range places, std::uint32_t word) const {
    const std::uint16_t* words = levels[k - 1].words.data();
    const std::uint16_t* found = std::lower_bound(
        words + places.begin, words + places.end, word,
        [](std::uint16_t a, std::uint32_t b) { return static_cast<std::uint32_t>(a) < b; });
    return static_cast<std::uint32_t>(found - words);
  }

  /// The place of `word` among `places` of level k, or kNone.
  std::uint32_t find_child(std::uint32_t k, Range places, WordId word) const {
    const std::uint32_t at = lower_bound(k, places, word);
    return at < places.end && levels[k - 1].words[at] == word ? at : kNone;
  }

  /// The context number of entry `place` of level k, or kNone if it has no children.
  std::uint32_t context_of(std::uint32_t k, std::uint32_t place) const {
    const Level& level = levels[k - 1];
    if (k >= header.order || place / 64 >= level.parents.size()) {
      return kNone;
    }
    const std::uint64_t bits = level.parents[place / 64];
    if ((bits >> (place % 64) & 1) == 0) {
      return kNone;
    }
    const std::uint64_t below = bits & ((1ull << (place % 64)) - 1);
    const std::uint32_t node =
        level.ranks[place / 64] + static_cast<std::uint32_t>(std::popcount(below));
    return node < level.backoff.size() ? node : kNone;
  }

  float log_prob_common(const NgramContext& context, WordId word) const {
    float weight = 0.0f;
    for (std::uint32_t k = context.depth; k > 0; --k) {
      const std::uint32_t node = context.nodes[k - 1];
      if (node == kNone) {
        continue;
      }
      const std::uint32_t place = find_child(k + 1, children(k, node), word);
      if (place != kNone) {
        return weight + header.prob_table[k][levels[k].probs[place]];
      }
      weight += backoff(k, node);
    }
    return weight + unigram[word];
  }

  float log_prob(const NgramContext& context, WordId word) const {
    if (word >= header.common_count) {
      const float unknown = log_prob_common(context, kUnknownWord);
      return word < header.unit_count ? unknown + unigram[word] : unknown;
    }
    return log_prob_common(context, word);
  }

  void top(const NgramContext& context, Range range, Range rare, Best* best) const;
  void top_children(const NgramContext& context, std::uint32_t k, Range range, float weight,
                    Best* best) const;
  void top_unigrams(const NgramContext& context, Range range, float weight, Best* best) const;
  bool seen_deeper(const NgramContext& context, std::uint32_t k, WordId word) const;
  std::size_t top_recent(const NgramContext& context, Range range, Range rare,
                         const RecentWords& recent, const RecentMix& mix,
                         std::span<Scored> out) const;

  Status read(const NgramBlobs& blobs, std::string_view name);
};

}  // namespace laya::model

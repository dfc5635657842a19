// The n-gram builder's third step: probabilities from counts, and which n-grams are worth their
// bytes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "train/ngram/ngram_counts.h"

namespace laya::train {

/// Smoothing of one level k, context h with children w, effective counts c (weighted), n = sum c, t
/// = number of children:
///   p(w | h) = (c - d(w)) / (n + s) + (sum d + s) / (n + s) * p(w | h without its first unit),   s
///   = strength + spread * t
/// d(w) = discount[min(raw count, 3) - 1] * (c / raw count)^scale. Absolute discounting with
/// Kneser-Ney counts (Chen & Goodman 1999) is strength = spread = 0; Witten-Bell is discount = 0; a
/// positive strength with discounts is Pitman-Yor (Teh 2006).
struct NgramSmoothing {
  std::array<double, 3> discount = {0.6, 0.9, 1.1};
  double strength = 0.0;
  double spread = 0.0;
  double scale =
      1.0;  ///< 1: a discount grows with the source's weight; 0: weights count as repetitions
  double continuation =
      1.0;  ///< 1: lower orders from continuation counts; 0: from plain counts; between: blended
};

struct NgramEstimateOptions {
  std::array<NgramSmoothing, 6> smoothing;  ///< [k - 1] of level k
  std::array<NgramSmoothing, 6>
      smoothing_han;  ///< the same where the context ends in a Han character; [0] unused
  /// Entropy pruning (Stolcke 1998): an n-gram without children goes if the model's relative
  /// entropy grows by less than this.
  double prune_words = 0.0;
  double prune_han = 0.0;  ///< the same for n-grams that end in a Han character
  /// For n-grams of four and more that do not end in a Han character the threshold is so many times
  /// higher: they save fewer keystrokes than their entropy promises.
  double prune_long_words = 1.0;
  /// Sequences of ids whose last unit must not be offered after the others: it gets
  /// kAvoidedProbability at most.
  std::vector<std::vector<std::uint32_t>> avoid;
};

/// Never enters a list by itself, and still lets the word be completed when most of it is typed.
inline constexpr double kAvoidedProbability = 1e-7;

/// Probabilities beside the counts; vectors as NgramLevel's.
struct NgramProbabilities {
  std::vector<float> p;            ///< p(last unit | the others); of level 1 also kUnknownWord's
  std::vector<std::uint8_t> keep;  ///< 0: pruned
  std::vector<float>
      backoff;  ///< natural logarithm; 0 where no child is kept. Empty at the last level
};

std::vector<NgramProbabilities> estimate_ngrams(const std::vector<NgramLevel>& levels,
                                                std::uint32_t han_begin, std::uint32_t word_begin,
                                                const NgramEstimateOptions& options);

}  // namespace laya::train

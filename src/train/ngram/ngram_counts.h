// The n-gram builder's second step: every n-gram of the text, counted level by level and kept as a
// sorted forward trie.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "train/ngram/ngram_text.h"

namespace laya::train {

/// The n-grams of one length k, sorted by (first k - 1 units, last unit). All vectors have one
/// element an n-gram ("node"). Level 1 has one node a common unit, whose number is the unit's id.
struct NgramLevel {
  std::vector<std::uint32_t> word;    ///< last unit
  std::vector<std::uint32_t> parent;  ///< node of level k - 1: without the last unit
  std::vector<std::uint32_t> suffix;  ///< node of level k - 1: without the first unit
  std::vector<float> count;           ///< weighted occurrences
  std::vector<float> raw;             ///< occurrences
  std::vector<float> left;      ///< weighted number of different units seen before it (Kneser-Ney's
                                ///< continuation count)
  std::vector<float> left_raw;  ///< number of them
  std::vector<std::uint32_t>
      begin;  ///< [nodes + 1] children in level k + 1; empty at the last level

  std::size_t size() const { return word.size(); }
};

struct NgramCountOptions {
  std::uint32_t order = 4;
  /// From level 4 on, n-grams whose context was seen less often than this are not counted: they
  /// would be pruned, and are most.
  float min_context = 2.0f;
};

/// Levels 1…order. `progress(done, total)` is called now and then. Memory: about 30 bytes an
/// n-gram.
std::vector<NgramLevel> count_ngrams(const NgramText& text, const NgramCountOptions& options,
                                     const std::function<void(double)>& progress);

}  // namespace laya::train

// What an n-gram table saves, by the definitions of the project's two baselines, so that the
// figures compare.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/ngram/ngram.h"

namespace laya::train {

/// How the session's recent units take part in an evaluation.
struct NgramEvalOptions {
  std::size_t max_lines = 0;  ///< of those not empty; 0: all
  bool use_recent = false;    ///< RecentWords carried from line to line
  model::RecentMix mix;
};

struct KeystrokeSavings {
  std::vector<double> saved_percent;  ///< for each slot count asked for
  std::vector<double> hit_percent;    ///< next word offered before its first letter
  std::size_t keystrokes = 0;
};

/// Keystrokes: every character of a white-space separated word and the space after it (not after a
/// line's last). Before each key the list is asked; if the word is in it (whole, case ignored),
/// accepting costs one key and brings the space.
KeystrokeSavings keystroke_savings(const model::NgramModel& ngrams, std::string_view text,
                                   const std::vector<std::size_t>& slots,
                                   const NgramEvalOptions& options);

struct NextCharacter {
  std::size_t characters = 0;
  double top1_percent = 0.0;  ///< among Han characters and symbols
  double top3_percent = 0.0;
  double bits = 0.0;  ///< mean -log2 p(character | context)
};

/// How often the table names the next Han character (U+4E00…9FFF) first, or among its first three.
NextCharacter next_character(const model::NgramModel& ngrams, std::string_view text,
                             const NgramEvalOptions& options);

}  // namespace laya::train

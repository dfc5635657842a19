// Learning the mixing weights: which share of the network, at which place, puts the meant word into
// the list most often; with a decoder, which share of it, network and table being mixed as they
// are.
//
// Objective: over every key of the given lines, how often the word being typed stands in the first
// slot plus how often in the first three. A key at which it is offered is a key saved, so this is
// keystrokes saved but for the order of events. For Chinese: next characters named first plus among
// the first three. A grid; a bucket gets a
// share of its own only where that gains more than chance would. Dev text
// only, never test.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/evaluate.h"
#include "predict/engine/engine.h"

namespace laya::eval {

struct LearnMixingOptions {
  std::size_t max_lines = 0;  ///< of each text; 0: all
  Progress progress = {};
};

struct LearntMixing {
  predict::Mixing mixing;
  std::size_t word_keys = 0;  ///< keys looked at
  std::size_t han_characters = 0;
  double word_hits_before =
      0;  ///< share of keys, (top-1 + top-3) / 2, with the engine's own weights
  double word_hits_after = 0;
  double han_hits_before = 0;
  double han_hits_after = 0;
};

/// Types `word_lines` and `han_lines` into a session of `engine` and chooses weights: λ where it
/// has network and table only, δ where it has a decoder too (BadArgument without network and
/// table).
Result<LearntMixing> learn_mixing(const predict::Engine& engine,
                                  const std::vector<std::string>& word_lines,
                                  const std::vector<std::string>& han_lines,
                                  const LearnMixingOptions& options);

/// The weights as they stand in mixing.cpp, and as JSON:
/// {"word_kind":…,"word_network":[[…],…],"han_kind":…,"han_network":[…],"word_deep_kind":…,…}.
std::string to_json(const predict::Mixing& mixing);

}  // namespace laya::eval

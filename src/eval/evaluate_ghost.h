// The ghost on real text: how often is it shown, how often is it right?
//
// The text is typed grapheme by grapheme and nothing is accepted. A key is a place before a
// grapheme of a line, its first one included; behind a line's end nobody knows what was meant, so
// that is not asked. Case is ignored, as everywhere in this room.
//   precision    of the ghosts shown, those of which every word is what follows
//   useful       those whose first word is: one key could take it
//   accepted     graphemes of a shown ghost that could be accepted, in whole words (mean)
//   harm         keys at which a ghost is shown and is not right to its end
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "eval/lines.h"
#include "predict/deep/deep_statistics.h"
#include "predict/engine/engine.h"

namespace laya::eval {

struct GhostOptions {
  std::size_t max_lines = 0;
  Progress progress = {};
};

struct GhostResult {
  struct Share {
    double value = 0;
    Interval interval = {};
  };
  /// What showing only ghosts of at least this probability would have given.
  struct AtLeast {
    double probability = 0;
    double shown = 0;
    double precision = 0;
    double harm = 0;
  };
  std::size_t lines = 0;
  std::uint64_t keys = 0;
  std::uint64_t shown_count = 0;
  Share shown;                    ///< of the keys
  Share precision;                ///< of the shown
  Share useful;                   ///< of the shown
  Share harm;                     ///< of the keys
  double accepted_graphemes = 0;  ///< of a shown one
  double shown_graphemes = 0;
  std::uint64_t deep_shown = 0;  ///< of shown_count, verified by the decoder
  /// From the least probability that was shown upwards, in steps of 0.05.
  std::vector<AtLeast> curve;
  double key_us_p50 = 0;  ///< of list and ghost
  double key_us_p99 = 0;
  predict::DeepStatistics deep = {};
};

/// BadArgument for no lines.
Result<GhostResult> evaluate_ghost(const predict::Engine& engine,
                                   const std::vector<std::string>& lines,
                                   const GhostOptions& options);

/// {"lines":…,"keys":…,"shown":…,"shown_interval":[…],"precision":…,…,"curve":[{"p":…,…},…]} on one
/// line.
std::string to_json(const GhostResult& result);

}  // namespace laya::eval

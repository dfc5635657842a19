// How different are the entries of a list from each other? "walk, walks, walked" wastes slots.
//
// At each word's start and behind its first letter, and at each Chinese character, a list is asked
// for. Of every two entries: the edit distance (Levenshtein, in code points, case ignored), and the
// same divided by the longer one's length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "eval/lines.h"
#include "predict/engine/engine.h"
#include "predict/session/session.h"

namespace laya::eval {

struct DiversityOptions {
  std::size_t max_lines = 0;
  std::size_t slots = 5;  ///< 2…Reply::kMaxCandidates
  Progress progress = {};
  predict::ListTaste taste = {};
};

struct DiversityResult {
  std::size_t lines = 0;
  std::size_t slots = 0;
  std::uint64_t lists = 0;  ///< with at least two entries
  double distance = 0;      ///< mean edit distance of two entries of a list, in characters
  double share = 0;         ///< the same over the longer entry's length, 0…1
  double near_lists = 0;    ///< lists in which some two are one edit apart
  Interval distance_interval = {};
  Interval share_interval = {};
  Interval near_interval = {};
};

/// BadArgument for no lines or slots out of range.
Result<DiversityResult> evaluate_diversity(const predict::Engine& engine,
                                           const std::vector<std::string>& lines,
                                           const DiversityOptions& options);

std::string to_json(const DiversityResult& result);

/// Levenshtein's distance of two texts in code points, case ignored. O(|a| · |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace laya::eval

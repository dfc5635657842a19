// What a ranker learns from: decisions of a session while text is typed, the features of each
// candidate, and which of them the typist meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/key_log.h"
#include "eval/lines.h"
#include "predict/engine/engine.h"

namespace laya::eval {

inline constexpr std::int32_t kNoneRight = -1;

/// Takes one decision: features [n, predict::kRankFeatures], n ≥ 1, in the order by score, and the
/// row that was right, or kNoneRight. An error ends the work.
using RankGroupSink = std::function<Status(std::span<const float> rows, std::int32_t right)>;

struct RankGroupOptions {
  std::size_t slots = 3;      ///< entries that the typist sees and takes from
  std::size_t max_lines = 0;  ///< first so many lines or sessions; 0: all
  Progress progress = {};
};

/// How good the order by score was.
struct RankGroupCounts {
  std::size_t decisions = 0;
  std::size_t known = 0;  ///< the right one was among the candidates
  std::size_t first = 0;  ///< and stood first
  std::size_t third = 0;  ///< or among the first three
  double reciprocal = 0;  ///< sum of 1 / place of the right one
};

/// Types `lines` without a mistake, taking a word as soon as it is offered, and asks before each
/// key. A candidate is right if it is the word being typed, marks at its end left out, case
/// ignored. Lines that hold Chinese are left out.
Result<RankGroupCounts> make_rank_groups(const predict::Engine& engine,
                                         const std::vector<std::string>& lines,
                                         const RankGroupOptions& options,
                                         const RankGroupSink& sink);

/// Plays key logs of simulated typists, mistakes and all, and asks behind each event. A candidate
/// is right if what it leaves left of the caret ends in the word that was meant. Sessions that do
/// not say what was meant are left out.
Result<RankGroupCounts> make_rank_groups(const predict::Engine& engine,
                                         std::span<const KeySession> sessions,
                                         const RankGroupOptions& options,
                                         const RankGroupSink& sink);

}  // namespace laya::eval

// The replay set: what somebody really did (or a simulated typist), key by key, with their
// mistakes, and what the predictions would have given them.
//
// A log (KEYLOG.md) is played into a session event by event. What was wanted is `meant`, where the
// typist is simulated, else what stood in the field in the end. Before each key the list is asked;
// when it holds the wanted word (case ignored) and taking it leaves the text right, the word costs
// one key more and all that the person did until the word and the space behind it stood there is
// saved, slips and Backspaces included. What a pick brought counts as the keys that it stands for.
// The ghost is judged before each key as in evaluate_ghost.h, wherever the text so far is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "eval/key_log.h"
#include "eval/lines.h"
#include "predict/deep/deep_statistics.h"
#include "predict/engine/engine.h"

namespace laya::eval {

/// Whether the ghost is judged too (slow).
enum class ReplayGhost : std::uint8_t { No, Yes };

struct ReplayOptions {
  std::vector<std::size_t> slots = {1, 3, 5};  ///< each 1…Reply::kMaxCandidates
  ReplayGhost ghost = ReplayGhost::Yes;
  Progress progress = {};
};

struct ReplayResult {
  struct Slot {
    std::size_t slots = 0;
    double saved = 0;  ///< of the keys that were pressed
    Interval saved_interval = {};
    std::uint64_t picks = 0;
    std::uint64_t mended = 0;  ///< of them, those that set a slip right
  };
  std::size_t sessions = 0;
  std::uint64_t keys = 0;  ///< pressed, Backspaces and caret jumps included
  double wrong_keys = 0;   ///< of them, those pressed while the text was not right
  std::vector<Slot> slots;
  bool has_ghost = false;
  std::uint64_t ghost_keys = 0;  ///< keys before which the ghost was judged
  double shown = 0;
  double precision = 0;
  double harm = 0;
  Interval shown_interval = {};
  Interval precision_interval = {};
  Interval harm_interval = {};
  double key_us_p50 = 0;
  double key_us_p99 = 0;
  predict::DeepStatistics deep = {};
};

/// BadArgument for no sessions or slots out of range.
Result<ReplayResult> evaluate_replay(const predict::Engine& engine,
                                     const std::vector<KeySession>& sessions,
                                     const ReplayOptions& options);

std::string to_json(const ReplayResult& result);

}  // namespace laya::eval

// How many passes a ghost of eight tokens costs, with drafts and without, on real text. For
// `laya bench`; the phrases of both ways are compared, and must be equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/evaluate.h"
#include "predict/engine/engine.h"

namespace laya::eval {

/// Where in the text ghosts are searched. Typed: behind each word, line after line, as somebody
/// types it; what the decoder said a moment ago is remembered. Scattered: one place a line, far
/// from the last, half of them inside words: nothing is remembered that helps.
enum class GhostPlaces : std::uint8_t { Typed, Scattered };

struct GhostBenchOptions {
  std::size_t contexts = 300;
  GhostPlaces places = GhostPlaces::Typed;
  Progress progress = {};
};

struct GhostBenchResult {
  std::size_t contexts = 0;  ///< where a phrase of kTokens tokens was to be had
  std::size_t unequal = 0;   ///< of them, those whose phrase depends on drafting: must be 0
  double passes_p50 = 0;     ///< of a phrase, the pass that reads the text included
  double passes_mean = 0;
  double plain_passes_p50 = 0;  ///< the same without drafts
  double ms_p50 = 0;            ///< of the search: drafting, passes and all
  double plain_ms_p50 = 0;
  double columns_a_pass = 0;
  double agreed_a_pass = 0;    ///< drafted tokens that the decoder would have said too
  double draft_ms_a_pass = 0;  ///< of it, spent on guessing
};

/// Needs a decoder (BadArgument without). One session's worth of memory; one thread and the
/// decoder's own.
Result<GhostBenchResult> bench_ghost(const predict::Engine& engine,
                                     const std::vector<std::string>& lines,
                                     const GhostBenchOptions& options);

}  // namespace laya::eval

// Evaluation: keystrokes saved, counted exactly as the baselines do (`laya-train peers`).
//
// A line's words are cut at white space; every character of a word costs one key and so does the
// space after it, not after the line's last word. Before each key the list is asked; if the word is
// in it (case ignored), accepting it costs one key and brings the space. Nothing is counted twice,
// and the next line starts with an empty field.
//
// Ghost only: no list; where all of the ghost is what comes next (case ignored), one key takes all
// of it, else, where its first word is, one key takes that; a space that follows comes with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/interval.h"
#include "eval/lines.h"
#include "predict/deep/deep_statistics.h"
#include "predict/engine/engine.h"
#include "predict/session/session.h"

namespace laya::eval {

/// LowerCased: the text is lower-cased before it is typed, as the trigram baseline does. AsTyped:
/// letters keep their case, only the comparison ignores it.
enum class EvalCase : std::uint8_t { LowerCased, AsTyped };

/// Whether to type the text once more with the ghost alone (slow: a phrase is searched every key).
enum class GhostOnly : std::uint8_t { No, Yes };

struct KsrOptions {
  std::vector<std::size_t> slots = {
      1, 3, 5};  ///< list lengths, each 1…Reply::kMaxCandidates; each typed by itself
  std::size_t max_lines = 0;  ///< first so many lines that are not blank; 0: all
  EvalCase letter_case = EvalCase::AsTyped;
  Progress progress = {};
  GhostOnly ghost_only = GhostOnly::No;
  predict::ListTaste taste = {};
};

struct KsrResult {
  /// What was accepted from one source.
  struct Picks {
    std::uint64_t picks = 0;
    std::uint64_t keys_saved = 0;
  };
  struct Slot {
    std::size_t slots = 0;
    std::uint64_t keys_used = 0;
    std::uint64_t next_word_hits = 0;  ///< words offered before their first letter
    double saved = 0;                  ///< 1 − keys_used / keystrokes
    Interval saved_interval = {};
    std::map<std::string, Picks> sources = {};  ///< by origin_name
    std::vector<Part> parts = {};               ///< keys saved, keys: of each line
  };
  std::size_t lines = 0;
  std::uint64_t words = 0;
  std::uint64_t keystrokes = 0;  ///< without any prediction
  std::vector<Slot> slots;       ///< in the order asked
  bool has_ghost = false;        ///< whether the next three were measured
  double ghost_saved = 0;
  Interval ghost_interval = {};
  std::uint64_t ghost_picks = 0;
  /// The ceilings. Oracle: whoever always picks the meant word as soon as it is among all that were
  /// weighed (a list without end). Perfect: one key for every word.
  double oracle_saved = 0;
  double perfect_saved = 0;
  /// From the edit to the list, over all keys asked, microseconds; with a decoder its time is in
  /// it.
  double key_us_p50 = 0;
  double key_us_p99 = 0;
  predict::DeepStatistics deep = {};  ///< what the decoder did; zeros without one
};

/// Types `lines` into one session. BadArgument for a slot count out of range or no lines.
Result<KsrResult> evaluate_ksr(const predict::Engine& engine, const std::vector<std::string>& lines,
                               const KsrOptions& options);

/// {"lines":…,"keystrokes":…,"saved":{"1":0.29,…},"saved_interval":{"1":[…]},"next_word":{…},…} on
/// one line.
std::string to_json(const KsrResult& result);

}  // namespace laya::eval

// Evaluation: keystrokes saved and next-character hits, defined exactly as in trigram.py and
// chargram.py.
//
// Keystrokes saved (peers.md, 2b): a line's words are cut at white space; every character of a word
// costs one key and so does the space after it, not after the line's last word. Before each key the
// list is asked; if the word is in it (case ignored), accepting it costs one key and brings the
// space. Nothing is counted twice, and the next line starts with an empty field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/lines.h"
#include "predict/deep_statistics.h"
#include "predict/engine.h"

namespace laya::eval {

/// LowerCased: the text is lower-cased before it is typed, as trigram.py does. AsTyped: letters
/// keep their case, only the comparison ignores it.
enum class EvalCase : std::uint8_t { LowerCased, AsTyped };

struct KsrOptions {
  std::vector<std::size_t> slots = {
      1, 3, 5};  ///< list lengths, each 1…Reply::kMaxCandidates; all measured in one pass
  std::size_t max_lines = 0;  ///< first so many lines that are not blank; 0: all
  EvalCase letter_case = EvalCase::AsTyped;
  Progress progress = {};
};

struct KsrResult {
  struct Slot {
    std::size_t slots;
    std::uint64_t keys_used;
    std::uint64_t next_word_hits;  ///< words offered before their first letter
    double saved;                  ///< 1 − keys_used / keystrokes
  };
  std::size_t lines = 0;
  std::uint64_t words = 0;
  std::uint64_t keystrokes = 0;  ///< without any prediction
  std::vector<Slot> slots;       ///< in the order asked
  predict::DeepStatistics deep;  ///< what the decoder did; zeros without one
};

/// Types `lines` into one session. BadArgument for a slot count out of range or no lines.
Result<KsrResult> evaluate_ksr(const predict::Engine& engine, const std::vector<std::string>& lines,
                               const KsrOptions& options);

struct NextCharOptions {
  std::size_t max_lines = 0;
  Progress progress = {};
};

struct NextCharResult {
  std::size_t lines = 0;
  std::uint64_t characters = 0;  ///< Han characters predicted (U+4E00…U+9FFF)
  std::uint64_t top1 = 0;
  std::uint64_t top3 = 0;
  predict::DeepStatistics deep;
};

/// Before each Han character of each line, asks for the next Han character; other characters are
/// context.
Result<NextCharResult> evaluate_next_char(const predict::Engine& engine,
                                          const std::vector<std::string>& lines,
                                          const NextCharOptions& options);

/// {"lines":…,"keystrokes":…,"saved":{"1":0.29,…},"next_word":{"1":0.12,…}} on one line.
std::string to_json(const KsrResult& result);
/// {"lines":…,"characters":…,"top1":0.24,"top3":0.375} on one line.
std::string to_json(const NextCharResult& result);

}  // namespace laya::eval

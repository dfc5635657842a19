// A typist that is simulated: turns text into key logs as people type it. Intervals that depend on
// the keys, slips noticed at once, at the word's end, later or never, Backspaces, jumps of the
// caret to a mistake further back, words begun and taken back, and, given an engine, picks from
// what it offers.
//
//   auto typist = Simulator::make({.seed = 7}, &engine);
//   KeySession session = *typist->type("see you tomorrow");
//
// The same options and lines give the same sessions on every machine without an engine; with one,
// wherever the engine answers the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "eval/key_log.h"
#include "predict/engine/engine.h"

namespace laya::eval {

/// How the typist types. Rates are probabilities, 0…1. The defaults are of the size that a study of
/// 136 million keystrokes reports (Dhakal et al. 2018: 52 words a minute, a twentieth of the keys
/// Backspace, about 1 % of the characters wrong in the end); KEYLOG.md says what is guessed.
struct SimulatorOptions {
  std::uint64_t seed = 1;
  double words_per_minute = 52;  ///< five characters each; every session draws its own around it
  double slip_rate = 0.03;       ///< of the characters where a slip can happen
  // Of the slips; what is left of 1 is never noticed.
  double notice_at_once = 0.45;     ///< within the next two keys
  double notice_at_word_end = 0.2;  ///< before the space
  double notice_later = 0.1;        ///< when the text is there: the caret goes back
  double reword_rate = 0.01;        ///< of the words: another one is begun and taken back
  double look_rate = 0.4;           ///< of the keys: the list and the ghost are looked at
  std::size_t list = 5;             ///< how many entries are seen
};

class Simulator {
 public:
  /// `engine` (may be null: no picks) must outlive it; its decoder, if it has one, is waited for.
  /// BadArgument names the option that is out of range.
  static Result<Simulator> make(const SimulatorOptions& options, const predict::Engine* engine);

  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;
  ~Simulator();

  /// Types `meant` (one line, valid UTF-8, at most kMaxKeyText bytes) into an empty field. Every
  /// session that is typed draws on; the seed of session n is derived from the options' seed and n.
  Result<KeySession> type(std::string_view meant);

 private:
  struct Impl;
  explicit Simulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace laya::eval

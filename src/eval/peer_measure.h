// Other people's predictions, judged by the rules that ours are judged by (evaluate.h,
// evaluate_next.h): keystrokes saved, the next Chinese character, the word at a word start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/evaluate.h"
#include "eval/evaluate_next.h"
#include "eval/interval.h"
#include "eval/lines.h"

namespace laya::eval {

/// Somebody who says what may come. One thread.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// True if what it offers depends on what it has offered: lists of each length are then asked for
  /// in passes of their own.
  virtual bool remembers() const = 0;
  /// A new, empty field.
  virtual Status new_line() = 0;
  /// At most `count`, best first: whole words that the text `before` the caret may end in (its open
  /// word typed as far as it stands there), or characters, as the predictor does.
  virtual Result<std::vector<std::string>> offers(std::string_view before, std::size_t count) = 0;
};

/// evaluate_ksr() of a predictor. Its lists come from `before` with the words in lower case, as the
/// trigram's script types them, where options.letter_case says so. Ghost and ceilings are not
/// measured. Errors: evaluate_ksr()'s, and the predictor's.
Result<KsrResult> measure_keystrokes(Predictor& predictor, const std::vector<std::string>& lines,
                                     const KsrOptions& options);

/// evaluate_next_char() of a predictor of characters.
Result<NextCharResult> measure_next_characters(Predictor& predictor,
                                               const std::vector<std::string>& lines,
                                               const NextCharOptions& options);

/// Hits at the word starts of Chinese lines.
struct WordStartResult {
  std::uint64_t places = 0;
  double top1 = 0;    ///< the first offer is what the text goes on with, whatever its length
  double top3 = 0;    ///< one of three is
  double exact3 = 0;  ///< one of three is the word itself
  double silent = 0;  ///< places where nothing is offered
  Interval top3_interval = {};
  std::vector<Part> top3_parts = {};  ///< hits, places: of each line
};

/// At every word start of `lines` but a line's first place: before it nothing is known.
Result<WordStartResult> measure_word_starts(Predictor& predictor,
                                            const std::vector<MarkedLine>& lines,
                                            const Progress& progress);

/// Our own engine as a Predictor of words: its list. The engine must outlive it.
class EnginePredictor : public Predictor {
 public:
  explicit EnginePredictor(const predict::Engine& engine);
  ~EnginePredictor() override;
  bool remembers() const override { return true; }
  Status new_line() override;
  Result<std::vector<std::string>> offers(std::string_view before, std::size_t count) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace laya::eval

// Pinyin sentences, typed key by key: `laya eval pinyin`.
//
// Reads lines `typed<TAB>expected` (evaluate_rerank.h, parse_nbest; `#before<TAB>text` gives the
// text left of the caret of the next one). Who answers is passed in, so that another input method
// is measured by the same code as ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/evaluate_rerank.h"
#include "eval/interval.h"
#include "eval/lines.h"
#include "predict/pinyin/pinyin_session.h"

namespace laya::eval {

/// What an input method offers once all letters are typed.
struct PinyinAnswer {
  std::vector<std::string> first;    ///< best first; five are looked at
  std::vector<std::int64_t> key_ns;  ///< from each key to its list
  std::int64_t deep_ns = -1;         ///< re-ordering by the decoder; -1: none
};

/// `typed` has only letters and apostrophes (blanks became apostrophes).
using PinyinTypist =
    std::function<Result<PinyinAnswer>(const std::string& typed, const std::string& before)>;

struct PinyinEvalOptions {
  std::size_t max_sentences = 0;  ///< 0: all
  Progress progress = {};
};

struct PinyinResult {
  std::size_t sentences = 0;
  double p_at_1 = 0;         ///< share whose first candidate is what was meant
  double p_at_5 = 0;         ///< … among the first five
  double char_accuracy = 0;  ///< Σ (length − edit distance) / Σ length, never below 0 a sentence
  Interval p_at_1_interval = {};
  Interval p_at_5_interval = {};
  Interval char_accuracy_interval = {};
  double key_us_p50 = 0;
  double key_us_p99 = 0;
  double deep_ms_p50 = 0;  ///< 0 without
  double deep_ms_p99 = 0;
  std::vector<Part> right;       ///< a sentence each, for differences
  std::vector<Part> characters;  ///< likewise
};

/// BadArgument for no sentences; the typist's errors. Marks and blanks in `expected`, which nobody
/// types as letters, are left out before comparing.
Result<PinyinResult> evaluate_pinyin(const std::vector<NbestSentence>& sentences,
                                     const PinyinTypist& typist, const PinyinEvalOptions& options);

/// Which tiers answer.
enum class PinyinTiers : std::uint8_t { Instant, Both };

/// Ours. `model` must outlive it. Both: re-ordered after the last key (needs Engine::deep()).
PinyinTypist our_typist(const predict::PinyinModel& model, PinyinTiers tiers,
                        const predict::PinyinOptions& options = {});

/// {"sentences":…,"p_at_1":…,"p_at_5":…,"char_accuracy":…,"key_us":{"p50":…,"p99":…},…}, fractions.
std::string to_json(const PinyinResult& result);

/// {"p_at_1":…,"p_at_1_interval":[…],"char_accuracy":…,…}: a − b on the same sentences.
std::string difference_to_json(const PinyinResult& a, const PinyinResult& b);

}  // namespace laya::eval

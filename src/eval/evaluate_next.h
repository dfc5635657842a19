// Next-word and next-character hits: how high in the list stands what is meant?
//
// English: at each word that follows a blank or begins the line, with 0 to 3 of its letters typed
// (words longer than that only), a list of ten is asked for; the word counts where it stands (case
// ignored). Chinese characters: before each Han character, next_han() is asked.
// Chinese words: at each word start of a text whose words are known (segmented), the list; an entry
// counts if the text goes on with it, whatever its length, so that tables of words and of
// characters can be compared; `zh_word_exact` counts only the word itself.
#pragma once

#include <array>
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

/// How a text shows where Chinese words begin. Marked: one space between them, which is not typed.
enum class Segmented : std::uint8_t { No, Marked };

struct NextOptions {
  std::size_t max_lines = 0;
  Segmented segmented = Segmented::No;
  Progress progress = {};
};

struct NextResult {
  static constexpr std::size_t kList = 10;   ///< entries looked at
  static constexpr std::size_t kPrefix = 4;  ///< letters typed: 0…3

  struct Places {
    std::uint64_t count = 0;
    double top1 = 0;  ///< shares of the places
    double top3 = 0;
    double mrr = 0;  ///< mean of 1/rank, 0 where it is not among kList
    Interval top1_interval = {};
    Interval top3_interval = {};
    Interval mrr_interval = {};
  };
  std::size_t lines = 0;
  std::array<Places, kPrefix> words;  ///< English, by letters typed
  Places zh_characters;
  Places zh_words;
  Places zh_word_exact;
  double key_us_p50 = 0;  ///< of a list
  double key_us_p99 = 0;
  predict::DeepStatistics deep = {};
};

/// BadArgument for no lines.
Result<NextResult> evaluate_next(const predict::Engine& engine,
                                 const std::vector<std::string>& lines, const NextOptions& options);

/// {"lines":…,"words":[{"letters":0,"places":…,"top1":…,"top1_interval":[…],…},…],
/// "zh_characters":{…},"zh_words":{…},"zh_word_exact":{…},"key_us":{…}}; null where a text has
/// none.
std::string to_json(const NextResult& result);

struct NextCharOptions {
  std::size_t max_lines = 0;
  Progress progress = {};
};

struct NextCharResult {
  std::size_t lines = 0;
  std::uint64_t characters = 0;  ///< Han characters predicted (U+4E00…U+9FFF)
  std::uint64_t top1 = 0;
  std::uint64_t top3 = 0;
  Interval top1_interval = {};
  Interval top3_interval = {};
  predict::DeepStatistics deep = {};
};

/// Before each Han character of each line, asks for the next Han character; other characters are
/// context. (The Chinese part of evaluate_next alone, and faster.)
Result<NextCharResult> evaluate_next_char(const predict::Engine& engine,
                                          const std::vector<std::string>& lines,
                                          const NextCharOptions& options);

/// {"lines":…,"characters":…,"top1":0.24,"top3":0.375,"top1_interval":[…],…} on one line.
std::string to_json(const NextCharResult& result);

/// A line of marked words: the text as it is typed, and where its Chinese words begin (bytes).
struct MarkedLine {
  std::string text;
  std::vector<std::size_t> word_starts;
};
/// Takes the spaces away that stand between two Chinese characters or marks.
MarkedLine read_marked(std::string_view line);

}  // namespace laya::eval

#include "train/ngram/ngram_eval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/utf8_boundary.h"
#include "text/units.h"

namespace laya::train {
namespace {

using model::NgramContext;
using model::NgramModel;
using model::RecentWords;
using model::Scored;
using model::WordId;

WordId id_of(const NgramModel& ngrams, std::string_view text, const text::Unit& unit) {
  switch (unit.kind) {
    case text::UnitKind::LineEnd:
      return model::kLineEnd;
    case text::UnitKind::Email:
      return model::kEmail;
    case text::UnitKind::Url:
      return model::kUrl;
    default:
      break;
  }
  std::string key;
  text::append_lower(text.substr(unit.begin, unit.end - unit.begin), &key);
  const WordId word = ngrams.find(key);
  return word == model::kUnknownWord && unit.kind == text::UnitKind::Number ? model::kNumber : word;
}

/// The text left of the caret, as the evaluation has typed it.
struct Typed {
  const NgramModel& ngrams;
  NgramContext context;
  RecentWords recent;

  void start_line() { context = ngrams.start(); }
  void push(std::string_view text) {
    text::Unit unit{};
    for (std::size_t at = 0; text::next_unit(text, at, &unit); at = unit.end) {
      const WordId word = id_of(ngrams, text, unit);
      recent.push(context.last, word);
      ngrams.push(&context, word);
    }
  }
};

template <typename F>
void for_each_written_line(std::string_view text, std::size_t max_lines, F f) {
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size() && (max_lines == 0 || lines < max_lines);) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      f(line);
      ++lines;
    }
    at = end + 1;
  }
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !base::is_continuation(c); }));
}

std::size_t next_boundary(std::string_view text, std::size_t at) {
  return base::boundary_from(text, at + 1);
}

}  // namespace

KeystrokeSavings keystroke_savings(const NgramModel& ngrams, std::string_view text,
                                   const std::vector<std::size_t>& slots,
                                   const NgramEvalOptions& options) {
  Typed typed{ngrams, {}, {}};
  const std::size_t most = *std::max_element(slots.begin(), slots.end());
  std::vector<std::size_t> used(slots.size(), 0);
  std::vector<std::size_t> hits(slots.size(), 0);
  std::size_t needed = 0;
  std::size_t words = 0;
  std::array<Scored, NgramModel::kMaxTop> out;
  std::string lower;
  for_each_written_line(text, options.max_lines, [&](std::string_view line) {
    typed.start_line();
    for (std::size_t at = line.find_first_not_of(" \t\r"); at < line.size();) {
      const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
      const std::string_view word = line.substr(at, end - at);
      const std::size_t after = line.find_first_not_of(" \t\r", end);
      const std::size_t space = after == std::string_view::npos ? 0 : 1;
      lower.clear();
      text::append_lower(word, &lower);
      needed += characters(word) + space;
      ++words;
      std::vector<char> open(slots.size(), 1);
      std::size_t still_open = slots.size();
      std::size_t keys = 0;
      for (std::size_t q = 0; q < lower.size() && still_open > 0;
           q = next_boundary(lower, q), ++keys) {
        const std::string_view prefix = std::string_view(lower).substr(0, q);
        const auto list = std::span(out).first(most);
        const std::size_t n = options.use_recent ? ngrams.top_words(typed.context, prefix,
                                                                    typed.recent, options.mix, list)
                                                 : ngrams.top_words(typed.context, prefix, list);
        std::size_t place = n;
        for (std::size_t i = 0; i < n && place == n; ++i) {
          place = ngrams.text(out[i].word) == lower ? i : n;
        }
        for (std::size_t s = 0; s < slots.size(); ++s) {
          if (open[s] != 0 && place < std::min(n, slots[s])) {
            open[s] = 0;
            --still_open;
            used[s] += keys + 1;
            hits[s] += q == 0;
          }
        }
      }
      for (std::size_t s = 0; s < slots.size(); ++s) {
        used[s] += open[s] != 0 ? characters(word) + space : 0;
      }
      typed.push(word);
      at = after;
    }
  });
  KeystrokeSavings result;
  result.keystrokes = needed;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const auto part = [](std::size_t a, std::size_t b) {
      return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
    };
    result.saved_percent.push_back(needed == 0 ? 0.0 : 100.0 * (1.0 - part(used[s], needed)));
    result.hit_percent.push_back(100.0 * part(hits[s], words));
  }
  return result;
}

NextCharacter next_character(const NgramModel& ngrams, std::string_view text,
                             const NgramEvalOptions& options) {
  Typed typed{ngrams, {}, {}};
  NextCharacter result;
  std::size_t first = 0;
  std::size_t among = 0;
  double bits = 0.0;
  std::array<Scored, 3> out;
  for_each_written_line(text, options.max_lines, [&](std::string_view line) {
    typed.start_line();
    text::Unit unit{};
    for (std::size_t at = 0; text::next_unit(line, at, &unit); at = unit.end) {
      const WordId word = id_of(ngrams, line, unit);
      const std::string_view shown = line.substr(unit.begin, unit.end - unit.begin);
      if (unit.kind == text::UnitKind::Han && shown >= "\u4e00" && shown <= "\u9fff") {
        const std::size_t n =
            options.use_recent
                ? ngrams.top_characters(typed.context, typed.recent, options.mix, out)
                : ngrams.top_characters(typed.context, out);
        for (std::size_t i = 0; i < n; ++i) {
          if (out[i].word == word && word != model::kUnknownWord) {
            first += i == 0;
            ++among;
          }
        }
        bits -= ngrams.log_prob(typed.context, word) / std::log(2.0);
        ++result.characters;
      }
      typed.recent.push(typed.context.last, word);
      ngrams.push(&typed.context, word);
    }
  });
  if (result.characters > 0) {
    const auto n = static_cast<double>(result.characters);
    result.top1_percent = 100.0 * static_cast<double>(first) / n;
    result.top3_percent = 100.0 * static_cast<double>(among) / n;
    result.bits = bits / n;
  }
  return result;
}

}  // namespace laya::train

#include "eval/key_log_pairs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.h"

namespace laya::eval {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxEdits = 2;
constexpr std::size_t kMaxCompared = 64;  // letters; longer runs are no words

/// Where the run without blanks begins that `before` ends with.
std::size_t word_begin(std::string_view before) {
  const std::size_t blank = before.find_last_of(" \t\n");
  return blank == std::string_view::npos ? 0 : blank + 1;
}

/// The run without blanks at `offset`.
std::string_view word_at(std::string_view text, std::size_t offset) {
  const std::size_t end = std::min(text.find_first_of(" \t\n", offset), text.size());
  return text.substr(offset, end - offset);
}

std::vector<char32_t> letters_of(std::string_view text) {
  std::vector<char32_t> letters;
  for (const base::Decoded& code : base::CodePoints(text)) letters.push_back(code.code_point);
  return letters;
}

/// Damerau-Levenshtein distance, neighbours swapped counting one (optimal string alignment).
std::size_t distance(const std::vector<char32_t>& a, const std::vector<char32_t>& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min(
          {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

bool are_alike(std::string_view typed, std::string_view became) {
  const std::vector<char32_t> a = letters_of(typed);
  const std::vector<char32_t> b = letters_of(became);
  if (a.empty() || b.empty() || a.size() > kMaxCompared || b.size() > kMaxCompared) return false;
  const std::size_t edits = distance(a, b);
  return edits > 0 && edits <= kMaxEdits && 2 * edits <= std::max(a.size(), b.size());
}

/// The text of the field when it was left.
std::string final_text(const KeySession& session) {
  PlayedField field(session);
  for (const KeyEvent& event : session.events) {
    if (!field.apply(event)) break;
  }
  return std::string(field.text());
}

std::optional<TypingPair> edit_of(std::string_view before, std::string_view left) {
  const std::size_t begin = word_begin(before);
  if (!left.starts_with(before.substr(0, begin))) return std::nullopt;
  const std::string_view typed = before.substr(begin);
  const std::string_view became = word_at(left, begin);
  if (became.starts_with(typed) || !are_alike(typed, became)) return std::nullopt;
  return TypingPair{PairKind::Edit,
                    std::string(before.substr(0, begin)),
                    std::string(typed),
                    std::string(became),
                    {}};
}

}  // namespace

std::vector<TypingPair> typing_pairs(const KeySession& session) {
  std::vector<TypingPair> pairs;
  const std::string left = final_text(session);
  PlayedField field(session);
  bool erasing = false;
  for (const KeyEvent& event : session.events) {
    const std::string before(field.before());
    const std::size_t begin = word_begin(before);
    const bool erases = event.kind == KeyEventKind::Erase ||
                        (event.kind == KeyEventKind::Pick && event.erase_before > 0);
    if (erases && !erasing) {  // the word as it was before the first Backspace
      if (std::optional<TypingPair> edit = edit_of(before, left)) pairs.push_back(*edit);
    }
    erasing = event.kind == KeyEventKind::Erase;
    if (!field.apply(event)) break;
    if (event.kind == KeyEventKind::Pick) {
      const bool listed = event.from == PickFrom::List && event.rank < event.offers.size();
      pairs.push_back({PairKind::Pick, before.substr(0, begin), before.substr(begin),
                       listed ? event.offers[event.rank] : std::string(), event.offers});
    }
    if (event.kind == KeyEventKind::Key && left.starts_with(field.before())) {
      const std::size_t start = word_begin(field.before());
      const std::string_view word = word_at(left, start);
      const std::string_view typed = field.before().substr(start);
      if (word.size() > typed.size()) {
        pairs.push_back({PairKind::Completion,
                         std::string(field.before().substr(0, start)),
                         std::string(typed),
                         std::string(word),
                         {}});
      }
    }
  }
  return pairs;
}

void append_pair(const TypingPair& pair, std::string* out) {
  constexpr const char* kNames[] = {"completion", "pick", "edit"};
  Json json{{"kind", kNames[static_cast<std::size_t>(pair.kind)]},
            {"before", pair.before},
            {"typed", pair.typed},
            {"became", pair.became}};
  if (pair.kind == PairKind::Pick) json["offers"] = pair.offers;
  *out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  *out += '\n';
}

}  // namespace laya::eval

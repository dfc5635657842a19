#include "eval/simulator_slips.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/utf8.h"
#include "text/grapheme.h"
#include "text/script.h"

namespace laya::eval {
namespace {

struct Place {
  double x;
  double y;
  int finger;  // 0…3 left little to index, 4…7 right index to little
};

/// A row of keys, its first key's x and its y; fingers as touch typists are taught.
struct Row {
  std::string_view keys;
  double x;
  double y;
  std::string_view fingers;
};
constexpr std::array<Row, 4> kRows{{{"1234567890", -0.5, 0, "0123344567"},
                                    {"qwertyuiop", 0, 1, "0123344567"},
                                    {"asdfghjkl", 0.25, 2, "012334456"},
                                    {"zxcvbnm", 0.75, 3, "0123344"}}};
constexpr std::string_view kAllKeys = "1234567890qwertyuiopasdfghjklzxcvbnm";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

std::optional<Place> place_of(char c) {
  for (const Row& row : kRows) {
    const std::size_t at = row.keys.find(lower(c));
    if (at != std::string_view::npos) {
      return Place{row.x + static_cast<double>(at), row.y, row.fingers[at] - '0'};
    }
  }
  return std::nullopt;
}

char in_case_of(char key, char model) {
  return is_upper(model) && key >= 'a' && key <= 'z' ? static_cast<char>(key - 'a' + 'A') : key;
}

/// One of the neighbours, nearer ones rather; 0 without.
char draw_neighbour(char c, model::SplitMix& random) {
  const std::string keys = neighbour_keys(c);
  if (keys.empty()) return 0;
  const auto weight = [&](char key) { return std::exp(-2 * key_distance(c, key)); };
  double sum = 0;
  for (const char key : keys) sum += weight(key);
  double left = random.unit() * sum;
  for (const char key : keys) {
    left -= weight(key);
    if (left < 0) return key;
  }
  return keys.back();
}

/// How often each kind happens where it can; a class of slips that cannot happen gives its share
/// to the others.
struct Odds {
  SlipKind kind;
  double weight;
};
constexpr std::array<Odds, 10> kOdds{{{SlipKind::Neighbour, 40},
                                      {SlipKind::Omitted, 20},
                                      {SlipKind::Swapped, 12},
                                      {SlipKind::Extra, 8},
                                      {SlipKind::Doubled, 4},
                                      {SlipKind::Undoubled, 16},
                                      {SlipKind::Shift, 8},
                                      {SlipKind::Space, 20},
                                      {SlipKind::EarlySpace, 6},
                                      {SlipKind::Apostrophe, 60}}};

/// The characters at the place, as far as they are ASCII.
struct Here {
  char now;
  char next;  // 0: the end, or no ASCII
  bool is_between_words;
};

std::optional<Slip> make(SlipKind kind, const Here& here, model::SplitMix& random) {
  const char c = here.now;
  switch (kind) {
    case SlipKind::Neighbour:
      if (const char key = draw_neighbour(c, random)) return Slip{kind, 1, {key}};
      break;
    case SlipKind::Extra:
      if (const char key = is_letter(c) ? draw_neighbour(c, random) : '\0') {
        return Slip{kind, 1, random.unit() < 0.5 ? std::string{c, key} : std::string{key, c}};
      }
      break;
    case SlipKind::Omitted:
      if (is_letter(c) && c != here.next) return Slip{kind, 1, {}};
      break;
    case SlipKind::Swapped:
      if (is_letter(c) && is_letter(here.next) && lower(c) != lower(here.next)) {
        // Shift is held for the first key that is struck: "The" becomes "Hte".
        return Slip{kind, 2, {in_case_of(lower(here.next), c), is_upper(c) ? lower(c) : c}};
      }
      break;
    case SlipKind::Doubled:
      if (is_letter(c) && c != here.next) return Slip{kind, 1, {c, c}};
      break;
    case SlipKind::Undoubled:
      if (is_letter(c) && c == here.next) return Slip{kind, 2, {c}};
      break;
    case SlipKind::Shift:
      if (is_upper(c)) return Slip{kind, 1, {lower(c)}};
      break;
    case SlipKind::Space:
      if (c == ' ' && here.is_between_words) return Slip{kind, 1, {}};
      break;
    case SlipKind::EarlySpace:
      if (is_letter(c) && here.next == ' ') return Slip{kind, 2, {' ', c}};
      break;
    case SlipKind::Apostrophe:
      if (c == '\'') return Slip{kind, 1, {}};
      break;
    case SlipKind::None:
    case SlipKind::Reworded:
      break;
  }
  return std::nullopt;
}

}  // namespace

double key_distance(char a, char b) {
  const std::optional<Place> from = place_of(a);
  const std::optional<Place> to = place_of(b);
  return from && to ? std::hypot(from->x - to->x, from->y - to->y) : -1;
}

std::string neighbour_keys(char c) {
  constexpr double kReach = 1.3;
  std::string keys;
  if (!place_of(c)) return keys;
  for (const char key : kAllKeys) {
    const bool same_sort = is_letter(c) == is_letter(key);  // a digit for a letter is rare
    if (same_sort && key != lower(c) && key_distance(c, key) < kReach) {
      keys += in_case_of(key, c);
    }
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [&](char a, char b) { return key_distance(c, a) < key_distance(c, b); });
  return keys;
}

double interval_factor(char32_t from, char32_t to) {
  double factor = 1;
  if (to == ' ') {
    factor = 0.9;
  } else if (from == ' ' || from == 0) {
    factor = 1.35;  // the next word is thought of
  } else if (from < 0x80 && to < 0x80) {
    const std::optional<Place> a = place_of(static_cast<char>(from));
    const std::optional<Place> b = place_of(static_cast<char>(to));
    if (a && b) {
      const bool other_hand = (a->finger < 4) != (b->finger < 4);
      const bool same_key = lower(static_cast<char>(from)) == lower(static_cast<char>(to));
      factor = same_key ? 0.75 : other_hand ? 0.85 : a->finger == b->finger ? 1.3 : 1.0;
    }
  }
  if (to < 0x80 && is_upper(static_cast<char>(to))) factor *= 1.4;
  const text::Script script = text::script_of(to);
  if (script == text::Script::Digit) factor *= 1.4;
  if (script == text::Script::Punctuation) factor *= 1.5;
  if (script == text::Script::Other) factor *= 4;  // looked for in a menu
  if (from == '.' || from == '!' || from == '?' || from == '\n') factor *= 1.6;
  return factor;
}

std::optional<Slip> draw_slip(std::string_view meant, std::size_t offset, model::SplitMix& random) {
  const std::string_view rest = meant.substr(offset);
  if (rest.empty() || static_cast<unsigned char>(rest[0]) >= 0x80) return std::nullopt;
  if (text::next_grapheme(rest, 0) != 1) return std::nullopt;  // a letter with marks
  const auto ascii_at = [&](std::size_t i) {
    return i < rest.size() && static_cast<unsigned char>(rest[i]) < 0x80 ? rest[i] : '\0';
  };
  const bool marked = rest.size() > 1 && text::next_grapheme(rest, 1) != 2;
  const Here here{rest[0], marked ? '\0' : ascii_at(1),
                  offset > 0 && is_letter(meant[offset - 1]) && is_letter(ascii_at(1))};
  double sum = 0;
  std::array<double, kOdds.size()> weights{};
  for (std::size_t i = 0; i < kOdds.size(); ++i) {
    model::SplitMix trial(0);
    weights[i] = make(kOdds[i].kind, here, trial) ? kOdds[i].weight : 0;
    sum += weights[i];
  }
  double left = random.unit() * sum;
  for (std::size_t i = 0; i < kOdds.size(); ++i) {
    left -= weights[i];
    if (weights[i] > 0 && left < 0) return make(kOdds[i].kind, here, random);
  }
  return std::nullopt;
}

std::optional<std::string> slipped_word(std::string_view word, model::SplitMix& random,
                                        SlipKind* kind) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const auto offset = static_cast<std::size_t>(random.unit() * static_cast<double>(word.size()));
    const std::optional<Slip> slip = draw_slip(word, offset, random);
    if (!slip) continue;
    std::string typed(word.substr(0, offset));
    typed += slip->typed;
    typed += word.substr(offset + slip->meant_bytes);
    if (typed.empty() || typed == word) continue;
    if (kind != nullptr) *kind = slip->kind;
    return typed;
  }
  return std::nullopt;
}

}  // namespace laya::eval

#include "predict/source/typed_text.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "text/script.h"
#include "text/units.h"

namespace laya::predict {
namespace {

constexpr std::size_t kLookBackBytes = 256;  // no word or address that matters is longer

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

bool is_letter(char32_t c) { return text::script_of(c) == text::Script::Latin; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The code point that ends at `end` of `text` and where it begins.
base::Decoded decode_back(std::string_view text, std::size_t end, std::size_t* begin) {
  *begin = base::previous_code_point(text, end);
  return base::decode_utf8(text.substr(*begin, end - *begin));
}

// Start of the trailing run of letters and apostrophes, apostrophes in front not included.
std::size_t open_word_begin(std::string_view text) {
  std::size_t begin = text.size();
  std::size_t first_letter = text.size();
  while (begin > 0 && text.size() - begin < kLookBackBytes) {
    std::size_t previous = 0;
    const base::Decoded code = decode_back(text, begin, &previous);
    if (code.status != base::Utf8Status::Valid) {
      break;
    }
    if (is_letter(code.code_point)) {
      first_letter = previous;
    } else if (!is_apostrophe(code.code_point)) {
      break;
    }
    begin = previous;
  }
  return first_letter;
}

// Abbreviations whose full stop ends no sentence. Lower case, without the last stop.
constexpr std::array<std::string_view, 16> kAbbreviations = {
    "e.g", "i.e", "etc", "mr",  "mrs", "ms",     "dr", "prof",
    "st",  "vs",  "no",  "fig", "cf",  "approx", "jr", "sr"};

bool ends_in_abbreviation(std::string_view text) {
  if (text.empty() || text.back() != '.') {
    return false;
  }
  const std::string_view body = text.substr(0, text.size() - 1);
  const std::size_t space = body.find_last_of(" \t\n(");
  const std::string_view word = space == std::string_view::npos ? body : body.substr(space + 1);
  if (word.empty()) {
    return false;
  }
  if (word.find_first_not_of("0123456789.,") == std::string_view::npos) {
    return true;  // "3." begins a list entry or a decimal, no sentence
  }
  std::array<char, 16> lower{};
  if (word.size() > lower.size()) {
    return false;
  }
  const std::size_t length = text::copy_lower(word, lower.data(), lower.size());
  const std::string_view key(lower.data(), length);
  return std::find(kAbbreviations.begin(), kAbbreviations.end(), key) != kAbbreviations.end();
}

}  // namespace

TypedText::TypedText() {
  before_.reserve(2 * kKeptBytes + 8);
  after_.reserve(kKeptAfterBytes + 8);
}

void TypedText::clear() {
  // Overwritten, not only forgotten: a core dump or a swap file should not hold what was typed.
  std::fill(before_.begin(), before_.end(), '\0');
  std::fill(after_.begin(), after_.end(), '\0');
  before_.clear();
  after_.clear();
  cut_bytes_ = 0;
  starts_field_ = true;
  known_left_ = true;
  owed_ = false;
}

std::size_t TypedText::trim() {
  if (before_.size() <= 2 * kKeptBytes) {
    return 0;
  }
  std::size_t cut = before_.size() - kKeptBytes;
  // Cut before a character, best after a line's end or a space, so that tokens right of the cut
  // stay what they are.
  const std::size_t space = before_.find_first_of(" \n", cut);
  if (space != std::string::npos && space - cut < kLookBackBytes) {
    cut = space + 1;
  } else {
    while (cut < before_.size() && (static_cast<unsigned char>(before_[cut]) & 0xC0) == 0x80) {
      ++cut;
    }
  }
  starts_field_ = false;
  cut_bytes_ += cut;
  before_.erase(0, cut);
  return cut;
}

TypedText::Delta TypedText::assign(std::string_view before, std::string_view after,
                                   LeftEdge left_edge) {
  after = after.substr(0, std::min(after.size(), kKeptAfterBytes));
  after_.assign(after);
  owed_ = false;
  known_left_ = left_edge == LeftEdge::FieldStart;

  // Both texts as slices of the field, by absolute place: what is common is kept.
  Delta delta;
  const std::uint64_t kept_end = cut_bytes_ + before_.size();
  if (before.size() >= cut_bytes_) {
    const std::string_view overlap = before.substr(cut_bytes_);
    const std::size_t limit = std::min(overlap.size(), before_.size());
    std::size_t common = 0;
    while (common < limit && overlap[common] == before_[common]) {
      ++common;
    }
    const std::string_view fresh = overlap.substr(common);
    if (fresh.size() <= kKeptBytes && (common > 0 || cut_bytes_ == 0)) {
      delta.erased = static_cast<std::size_t>(kept_end - cut_bytes_) - common;
      before_.resize(common);
      before_.append(fresh);
      delta.inserted = fresh.size();
      starts_field_ = cut_bytes_ == 0;
      delta.dropped = trim();
      return delta;
    }
  }
  delta.erased = before_.size();
  std::size_t cut = before.size() > kKeptBytes ? before.size() - kKeptBytes : 0;
  while (cut > 0 && cut < before.size() &&
         (static_cast<unsigned char>(before[cut]) & 0xC0) == 0x80) {
    ++cut;
  }
  before_.assign(before.substr(cut));
  cut_bytes_ = cut;
  starts_field_ = cut == 0;
  delta.inserted = before_.size();
  return delta;
}

TypedText::Delta TypedText::change_since(std::string_view seen, std::uint64_t seen_cut) const {
  // Both as slices of the field, by absolute place.
  if (cut_bytes_ >= seen_cut && cut_bytes_ - seen_cut <= seen.size()) {
    const auto dropped = static_cast<std::size_t>(cut_bytes_ - seen_cut);
    const std::string_view overlap = seen.substr(dropped);
    const auto common = static_cast<std::size_t>(
        std::mismatch(overlap.begin(), overlap.end(), before_.begin(), before_.end()).first -
        overlap.begin());
    if (common > 0 || dropped == 0) {
      return {.erased = overlap.size() - common,
              .inserted = before_.size() - common,
              .dropped = dropped};
    }
  }
  return {.erased = seen.size(), .inserted = before_.size(), .dropped = 0};
}

bool TypedText::can_erase(std::size_t before, std::size_t after) const {
  const std::size_t own = before_.size() - (owed_ ? 1 : 0);
  return before <= own && after <= after_.size();
}

TypedText::Delta TypedText::apply(std::size_t erase_before, std::size_t erase_after,
                                  std::string_view insert) {
  Delta delta;
  if (owed_) {
    before_.pop_back();
    owed_ = false;
    ++delta.erased;
  }
  before_.resize(before_.size() - erase_before);
  delta.erased += erase_before;
  after_.erase(0, erase_after);
  if (insert.size() > kKeptBytes) {  // only its end can matter
    std::size_t cut = insert.size() - kKeptBytes;
    while (cut < insert.size() && (static_cast<unsigned char>(insert[cut]) & 0xC0) == 0x80) {
      ++cut;
    }
    delta.erased += before_.size();
    cut_bytes_ += before_.size() + cut;
    before_.clear();
    starts_field_ = false;
    insert.remove_prefix(cut);
  }
  before_.append(insert);
  delta.inserted = insert.size();
  delta.dropped = trim();
  return delta;
}

TypedText::Delta TypedText::owe_space(PendingSpace pending) {
  Delta delta;
  const bool owe = pending == PendingSpace::Owed && !before_.empty() && !is_blank(before_.back());
  if (owe == owed_) {
    return delta;
  }
  if (owe) {
    before_.push_back(' ');
    delta.inserted = 1;
  } else {
    before_.pop_back();
    delta.erased = 1;
  }
  owed_ = owe;
  return delta;
}

std::string_view TypedText::open_word() const {
  return std::string_view(before_).substr(open_word_begin(before_));
}

std::string_view TypedText::rest_of_word() const {
  std::size_t end = 0;
  while (end < after_.size()) {
    const base::Decoded code = base::decode_utf8(std::string_view(after_).substr(end));
    if (code.status != base::Utf8Status::Valid ||
        !(is_letter(code.code_point) || is_apostrophe(code.code_point) ||
          text::script_of(code.code_point) == text::Script::Digit)) {
      break;
    }
    end += code.length;
  }
  return std::string_view(after_).substr(0, end);
}

std::string_view TypedText::next_word_after() const {
  std::string_view rest = after_;
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '\t')) {
    rest.remove_prefix(1);
  }
  text::Unit unit;
  if (rest.empty() || rest.front() == '\n' || !text::next_unit(rest, 0, &unit)) {
    return {};
  }
  return rest.substr(unit.begin, unit.end - unit.begin);
}

bool TypedText::ends_in_half_character() const {
  const std::size_t from = before_.size() > 4 ? before_.size() - 4 : 0;
  std::string_view tail = std::string_view(before_).substr(from);
  // A tail that begins inside a sequence would look ill-formed at its front; only its end is asked
  // for.
  while (!tail.empty() && (static_cast<unsigned char>(tail.front()) & 0xC0) == 0x80) {
    tail.remove_prefix(1);
  }
  return base::complete_utf8_length(tail) != tail.size();
}

bool TypedText::in_address() const {
  const std::string_view text = before_;
  std::size_t begin = open_word_begin(text);
  const std::size_t word = begin;
  while (begin > 0 && !is_blank(text[begin - 1]) && word - begin < kLookBackBytes) {
    --begin;
  }
  const std::string_view lead = text.substr(begin, word - begin);
  if (lead.empty()) {
    return false;
  }
  const char last = lead.back();
  if (last == '@' ? lead.size() > 1 : lead.find('@', 1) != std::string_view::npos) {
    return true;
  }
  if (last == '_' || last == '\\' || last == '#' || last == '$' || last == '=') {
    return true;
  }
  if (lead.find("://") != std::string_view::npos || lead.starts_with("www.") ||
      lead.starts_with("~/") || lead.starts_with("./")) {
    return true;
  }
  // "foo.ba": a name with a dot in it. "end.Next" (space forgotten) looks the same; silence is
  // right for both.
  return last == '.' && lead.size() > 1 &&
         text::script_of(static_cast<unsigned char>(lead[lead.size() - 2])) !=
             text::Script::Punctuation;
}

bool TypedText::writes_without_capitals() const {
  const std::string_view text = std::string_view(before_).substr(0, open_word_begin(before_));
  const std::size_t from = text.size() > kLookBackBytes ? text.size() - kLookBackBytes : 0;
  bool letters = false;
  for (const char c : text.substr(from)) {  // ASCII is enough for a habit
    if (c >= 'A' && c <= 'Z') {
      return false;
    }
    letters = letters || (c >= 'a' && c <= 'z');
  }
  return letters;
}

bool TypedText::needs_space() const {
  if (before_.empty()) {
    return false;
  }
  const char last = before_.back();
  constexpr std::string_view kMarks = ",.;:!?)]}%";
  return (last >= '0' && last <= '9') || kMarks.find(last) != std::string_view::npos;
}

bool TypedText::at_sentence_start() const {
  std::string_view text = before_;
  text = text.substr(0, open_word_begin(text));
  while (!text.empty() && (text.back() == '"' || text.back() == '(' || text.back() == '\'')) {
    text.remove_suffix(1);
  }
  std::string_view body = text;
  while (!body.empty() && body.back() == ' ') {
    body.remove_suffix(1);
  }
  if (body.empty()) {
    return starts_field_ && known_left_;
  }
  if (body.size() == text.size() && body.back() != '\n') {
    const base::Decoded last =
        base::decode_utf8(body.substr(base::previous_code_point(body, body.size())));
    if (!text::is_cjk_punctuation(last.code_point)) {
      return false;  // no space behind the full stop: "3.x", "foo.bar"
    }
  }
  return text::at_sentence_start(body) && !ends_in_abbreviation(body);
}

}  // namespace laya::predict

#include "field/pinyin_buffer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace laya::field {
namespace {

bool is_lower(std::string_view text) {
  return text.size() == 1 && text[0] >= 'a' && text[0] <= 'z';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// While letters stand there, these join them: a name's capital, a cut between syllables.
bool joins(std::string_view text) {
  return is_lower(text) || text == "'" || (text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z');
}

PinyinAction taken() { return {.taken = true}; }

}  // namespace

std::string_view chinese_mark(std::string_view key, std::string_view before) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kMarks{{{",", "，"},
                                                                                 {".", "。"},
                                                                                 {"?", "？"},
                                                                                 {"!", "！"},
                                                                                 {";", "；"},
                                                                                 {":", "："},
                                                                                 {"\\", "、"},
                                                                                 {"(", "（"},
                                                                                 {")", "）"}}};
  const bool in_number = key == "," || key == "." || key == ":";
  if (in_number && !before.empty() && is_digit(before.back())) return {};
  const auto* mark =
      std::ranges::find(kMarks, key, &std::pair<std::string_view, std::string_view>::first);
  return mark == kMarks.end() ? std::string_view() : mark->second;
}

void PinyinBuffer::enter(FieldKind kind) {
  kind_ = kind;
  clear();
}

PinyinAction PinyinBuffer::handle(const PinyinKey& key, std::string_view before) {
  if (field_is_blocked(kind_)) {
    return {.refusal = PinyinRefusal::FieldBlocked};
  }
  if (key.kind == PinyinKeyKind::Text) {
    if (is_lower(key.text) || (!letters_.empty() && joins(key.text))) return compose(key.text);
    if (!letters_.empty()) return choose_or_mark(key.text);
    const std::string_view mark = chinese_mark(key.text, before);
    return {.taken = !mark.empty(), .commit = std::string(mark)};
  }
  if (letters_.empty()) return {};
  switch (key.kind) {
    case PinyinKeyKind::Pick:
      return choose(key.number);
    case PinyinKeyKind::Enter:
      return {.taken = true, .letters_changed = true, .commit = take_letters()};
    case PinyinKeyKind::Escape:
      clear();
      return {.taken = true, .letters_changed = true};
    case PinyinKeyKind::Backspace:
      letters_.pop_back();
      letters_changed();
      return {.taken = true, .letters_changed = true};
    case PinyinKeyKind::NextPage:
    case PinyinKeyKind::PreviousPage:
      turn_page(key.kind == PinyinKeyKind::NextPage ? 1 : -1);
      return taken();
    case PinyinKeyKind::Next:
    case PinyinKeyKind::Previous:
      highlight(key.kind == PinyinKeyKind::Next ? 1 : -1);
      return taken();
    case PinyinKeyKind::Leave:
      return {.letters_changed = true, .commit = take_letters()};
    case PinyinKeyKind::Other:
      return {};
    case PinyinKeyKind::Text:
    case PinyinKeyKind::Caret:
      break;
  }
  return taken();
}

PinyinAction PinyinBuffer::compose(std::string_view text) {
  if (letters_.size() == kMaxPinyinLetters) {
    return {.taken = true, .refusal = PinyinRefusal::TooManyLetters};
  }
  letters_ += text;
  letters_changed();
  return {.taken = true, .letters_changed = true};
}

// A key that is no letter while letters wait: space, a digit, a page key, or a mark, which ends the
// sentence.
PinyinAction PinyinBuffer::choose_or_mark(std::string_view text) {
  if (text == " ") return choose(highlighted_ + 1);
  if (text == "-" || text == "=") {
    turn_page(text == "=" ? 1 : -1);
    return taken();
  }
  if (text.size() == 1 && is_digit(text[0])) {
    return choose(static_cast<std::size_t>(text[0] - '0'));
  }
  PinyinAction action = choose(highlighted_ + 1);
  if (action.waits_for_answer) return action;
  action.commit += take_letters();
  const std::string_view mark = chinese_mark(text, action.commit);
  action.commit += mark.empty() ? text : mark;
  action.letters_changed = true;
  return action;
}

PinyinAction PinyinBuffer::choose(std::size_t number) {
  if (!answered_) return {.taken = true, .waits_for_answer = true};
  if (number == 0 || number > page_.size()) return taken();
  Entry& chosen = entries_[first_ + number - 1];
  PinyinAction action{.taken = true, .letters_changed = true, .commit = std::move(chosen.text)};
  letters_.erase(0, chosen.consumed);
  if (letters_.starts_with('\'')) letters_.erase(0, 1);
  letters_changed();
  return action;
}

std::string PinyinBuffer::take_letters() {
  std::string taken = std::move(letters_);
  clear();
  return taken;
}

void PinyinBuffer::clear() {
  letters_.clear();
  letters_changed();
}

// What was answered is of other letters.
void PinyinBuffer::letters_changed() {
  answered_ = false;
  entries_.clear();
  first_ = 0;
  fill_page();
}

// The engine lists the letters last, behind dozens of words; here they are within reach: somebody
// who types "iphone" wants no Chinese.
bool PinyinBuffer::show(const PinyinReply& reply) {
  const bool refused =
      reply.refusal != PinyinRefusal::None && std::string_view(letters_).starts_with(reply.letters);
  if (letters_.empty() || (reply.letters != letters_ && !refused)) {
    return false;
  }
  letters_.resize(reply.letters.size());
  letters_changed();
  for (const PinyinCandidate& candidate : reply.candidates) {
    const auto consumed = std::min<std::size_t>(candidate.consumed, letters_.size());
    entries_.push_back(
        {std::string(candidate.text), static_cast<std::uint16_t>(consumed), candidate.kind});
  }
  const auto raw = std::ranges::find(entries_, PinyinKind::Letters, &Entry::kind);
  if (raw - entries_.begin() >= static_cast<std::ptrdiff_t>(kPage) && raw != entries_.end()) {
    std::rotate(entries_.begin() + kPage - 1, raw, raw + 1);
  }
  answered_ = true;
  fill_page();
  return true;
}

void PinyinBuffer::turn_page(std::ptrdiff_t pages) {
  const std::ptrdiff_t wanted =
      static_cast<std::ptrdiff_t>(first_) + pages * static_cast<std::ptrdiff_t>(kPage);
  if (wanted >= 0 && wanted < static_cast<std::ptrdiff_t>(entries_.size())) {
    first_ = static_cast<std::size_t>(wanted);
    fill_page();
  }
}

void PinyinBuffer::highlight(std::ptrdiff_t steps) {
  const std::ptrdiff_t wanted = static_cast<std::ptrdiff_t>(first_ + highlighted_) + steps;
  if (wanted < 0 || wanted >= static_cast<std::ptrdiff_t>(entries_.size())) return;
  first_ = static_cast<std::size_t>(wanted) / kPage * kPage;
  fill_page();
  highlighted_ = static_cast<std::size_t>(wanted) - first_;
}

void PinyinBuffer::fill_page() {
  page_.clear();
  highlighted_ = 0;
  for (std::size_t i = first_; i < std::min(first_ + kPage, entries_.size()); ++i) {
    page_.push_back(entries_[i].text);
  }
}

}  // namespace laya::field

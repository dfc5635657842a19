#include "laya/type/type_pinyin.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pinyin/libime_data.h"

namespace laya::apps {
namespace {

bool is_lower(std::string_view text) {
  return text.size() == 1 && text[0] >= 'a' && text[0] <= 'z';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// While letters stand there, these join them: a name's capital, a cut between syllables.
bool joins(std::string_view text) {
  return is_lower(text) || text == "'" || (text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z');
}

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
  const auto mark =
      std::ranges::find(kMarks, key, &std::pair<std::string_view, std::string_view>::first);
  return mark == kMarks.end() ? std::string_view() : mark->second;
}

Status PinyinInput::toggle() {
  if (!on_ && model_ == nullptr) {
    auto data = pinyin::load_libime({});
    if (!data) return data.error();
    model_ = std::make_unique<predict::PinyinModel>(*engine_, std::move(*data));
    session_ = std::make_unique<predict::PinyinSession>(*model_);
  }
  on_ = !on_;
  take_letters();
  return {};
}

std::string_view PinyinInput::letters() const {
  return session_ != nullptr ? session_->letters() : std::string_view();
}

PinyinInput::Answer PinyinInput::handle(const Key& key, std::string_view before) {
  if (key.kind == KeyKind::Text && is_lower(key.text)) return compose(key.text, before);
  if (letters().empty()) {
    const std::string_view mark =
        key.kind == KeyKind::Text ? chinese_mark(key.text, before) : std::string_view();
    return {!mark.empty(), std::string(mark)};
  }
  switch (key.kind) {
    case KeyKind::Text: {
      if (joins(key.text)) return compose(key.text, before);
      if (key.text == " ") return {true, choose(1)};
      if (key.text == "-" || key.text == "=") {
        turn_page(key.text == "=" ? 1 : -1);
        return {true, {}};
      }
      if (key.text.size() == 1 && is_digit(key.text[0])) {
        return {true, choose(static_cast<std::size_t>(key.text[0] - '0'))};
      }
      // A mark ends the sentence: what is likeliest, and the mark.
      std::string commit = choose(1);
      commit += take_letters();
      const std::string_view mark = chinese_mark(key.text, commit);
      commit += mark.empty() ? std::string_view(key.text) : mark;
      return {true, commit};
    }
    case KeyKind::Pick:
      return {true, choose(static_cast<std::size_t>(key.number))};
    case KeyKind::Enter:
      return {true, take_letters()};
    case KeyKind::Escape:
    case KeyKind::EraseLine:
    case KeyKind::EraseWord:
      take_letters();
      return {true, {}};
    case KeyKind::Backspace:
      session_->erase();
      list();
      return {true, {}};
    case KeyKind::Up:
    case KeyKind::Down:
      turn_page(key.kind == KeyKind::Down ? 1 : -1);
      return {true, {}};
    case KeyKind::Paste:
    case KeyKind::Pinyin:
      return {false, take_letters()};
    case KeyKind::Redraw:
    case KeyKind::Quit:
      return {};
    default:
      return {true, {}};  // the caret stays where the letters will go
  }
}

PinyinInput::Answer PinyinInput::compose(std::string_view text, std::string_view before) {
  Status done;
  if (letters().empty()) done = session_->set_context(before);
  if (done) done = session_->type(text);  // beyond the longest: the letter is not taken
  list();
  return {true, {}};
}

std::string PinyinInput::choose(std::size_t number) {
  if (number == 0 || number > shown_.size()) return {};
  Result<std::string> text = session_->commit(order_[first_ + number - 1]);
  list();
  return text ? *std::move(text) : std::string();
}

std::string PinyinInput::take_letters() {
  std::string taken(letters());
  while (!letters().empty()) session_->erase();
  list();
  return taken;
}

// The engine lists the letters last, behind dozens of words; here they are within reach: somebody
// who types "iphone" wants no Chinese.
void PinyinInput::list() {
  order_.clear();
  first_ = 0;
  if (!letters().empty()) {
    const auto all = session_->candidates();
    for (std::size_t i = 0; i < all.size(); ++i) order_.push_back(i);
    const auto raw = std::find_if(order_.begin(), order_.end(), [&](std::size_t i) {
      return all[i].kind == predict::PinyinKind::Letters;
    });
    if (raw != order_.end() && raw - order_.begin() >= static_cast<std::ptrdiff_t>(kPage)) {
      std::rotate(order_.begin() + kPage - 1, raw, raw + 1);
    }
  }
  turn_page(0);
}

void PinyinInput::turn_page(std::ptrdiff_t pages) {
  const std::ptrdiff_t wanted =
      static_cast<std::ptrdiff_t>(first_) + pages * static_cast<std::ptrdiff_t>(kPage);
  if (wanted >= 0 && wanted < static_cast<std::ptrdiff_t>(order_.size())) {
    first_ = static_cast<std::size_t>(wanted);
  }
  shown_.clear();
  for (std::size_t i = first_; i < std::min(first_ + kPage, order_.size()); ++i) {
    shown_.emplace_back(session_->candidates()[order_[i]].text);
  }
}

}  // namespace laya::apps

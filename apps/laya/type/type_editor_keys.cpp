// What each key of `laya type` does.
#include <algorithm>

#include "base/clock.h"
#include "laya/type/type_editor.h"
#include "text/grapheme.h"
#include "text/script.h"

namespace laya::apps {
namespace {

constexpr std::size_t kWordBackBytes = 256;  // Ctrl-W looks back so far

/// Where a caret at display column `column` of the line [begin, end) stands.
std::size_t at_column(std::string_view text, std::size_t begin, std::size_t end,
                      std::size_t column) {
  std::size_t at = begin;
  std::size_t width = 0;
  while (at < end) {
    const std::size_t next = text::next_grapheme(text, at);
    width += text::display_width(text.substr(at, next - at));
    if (width > column || next > end) {
      break;
    }
    at = next;
  }
  return at;
}

}  // namespace

TypeEditor::Outcome TypeEditor::handle(const Key& key) {
  notice_.clear();
  hidden_ = false;
  if (pinyin_.is_on() && compose(key)) {
    return Outcome::Continue;
  }
  const bool accepts = key.kind == KeyKind::Pick || key.kind == KeyKind::Tab;
  if (accepts && stale_) {
    decide();  // keys that came in one go: what is accepted must belong to the text it goes into
  }
  switch (key.kind) {
    case KeyKind::Text:
      type(key.text);
      break;
    case KeyKind::Enter:
      type("\n");
      break;
    case KeyKind::Paste:
      // Pasted text is not typed: it counts neither as keys nor as characters.
      before_ += key.text;
      ghost_.text_changed();
      tell_whole_text();
      break;
    case KeyKind::Pick:
      pick(static_cast<std::size_t>(key.number));
      break;
    case KeyKind::Tab:
      if (!ghost().empty()) {
        ++keys_;
        insert(ghost_.accept_word());
      } else {
        pick(1);
      }
      break;
    case KeyKind::Escape:
      ghost_.dismiss();
      offers_.clear();
      hidden_ = true;
      break;
    case KeyKind::Right:
      if (!ghost().empty()) {
        ++keys_;
        insert(ghost_.accept_all());
      } else if (!after_.empty()) {
        move_caret(before_.size() + text::next_grapheme(after_, 0));
      }
      break;
    case KeyKind::End:
      if (!ghost().empty()) {
        ++keys_;
        insert(ghost_.accept_all());
      } else {
        move_caret(before_.size() + std::min(after_.find('\n'), after_.size()));
      }
      break;
    case KeyKind::Left:
      move_caret(text::previous_grapheme(before_, before_.size()));
      break;
    case KeyKind::WordLeft:
      move_caret(before_.size() - text::last_word_length(before_));
      break;
    case KeyKind::WordRight:
      move_caret(before_.size() + text::first_word_length(after_));
      break;
    case KeyKind::Home: {
      const std::size_t line = before_.rfind('\n');
      move_caret(line == std::string::npos ? 0 : line + 1);
      break;
    }
    case KeyKind::Up:
      move_caret(line_above());
      break;
    case KeyKind::Down:
      move_caret(line_below());
      break;
    case KeyKind::Backspace:
      ++keys_;
      if (owes_space()) {
        erase(0, 0);  // the space that is only shown
      } else {
        erase(before_.size() - text::previous_grapheme(before_, before_.size()), 0);
      }
      break;
    case KeyKind::EraseWord: {
      ++keys_;
      const std::string_view tail = std::string_view(before_).substr(
          before_.size() - std::min(before_.size(), kWordBackBytes));
      erase(text::last_word_length(tail), 0);
      break;
    }
    case KeyKind::EraseLine: {
      ++keys_;
      const std::size_t line = before_.rfind('\n');
      erase(line == std::string::npos ? before_.size() : before_.size() - line - 1, 0);
      break;
    }
    case KeyKind::Delete:
      ++keys_;
      erase(0, text::next_grapheme(after_, 0));
      break;
    case KeyKind::Pinyin:
      if (Status status = pinyin_.toggle(); !status) notice_ = status.error().message;
      break;
    case KeyKind::Redraw:
      break;
    case KeyKind::Quit:
      return Outcome::Quit;
  }
  if (remote_ != nullptr && (stale_ || hidden_)) {
    remote_->cancel();
    remote_offers_.clear();
  }
  return Outcome::Continue;
}

// True when pinyin input has taken the key. Each key that composes is counted, what is chosen as
// characters.
bool TypeEditor::compose(const Key& key) {
  const std::int64_t begin = base::monotonic_ns();
  const PinyinInput::Answer answer = pinyin_.handle(key, before_);
  if (!answer.commit.empty()) {
    insert(ghost_.typed(answer.commit));
  }
  if (!answer.taken) {
    return false;
  }
  if (answer.refusal == field::PinyinRefusal::TooManyLetters) {
    notice_ = "pinyin: no more letters before some are chosen";
  }
  ++keys_;
  if (is_composing()) {
    stale_ = true;
    const std::int64_t took_ns = base::monotonic_ns() - begin;
    last_us_ = instant_us_ = static_cast<double>(took_ns) / 1000;
    deep_us_ = 0;
    latency_.record(took_ns);
    instant_latency_.record(took_ns);
  }
  if (remote_ != nullptr) {
    remote_->cancel();
    remote_offers_.clear();
  }
  return true;
}

void TypeEditor::move_caret(std::size_t offset) {
  if (offset < before_.size()) {
    after_.insert(0, before_, offset);
    before_.erase(offset);
  } else {
    const std::size_t count = std::min(offset - before_.size(), after_.size());
    before_.append(after_, 0, count);
    after_.erase(0, count);
  }
  ghost_.text_changed();
  tell_whole_text();
}

std::size_t TypeEditor::line_above() const {
  const std::size_t newline = before_.rfind('\n');
  if (newline == std::string::npos) {
    return 0;
  }
  const std::size_t column = text::display_width(std::string_view(before_).substr(newline + 1));
  const std::size_t above = newline == 0 ? std::string::npos : before_.rfind('\n', newline - 1);
  return at_column(before_, above == std::string::npos ? 0 : above + 1, newline, column);
}

std::size_t TypeEditor::line_below() const {
  const std::size_t newline = after_.find('\n');
  if (newline == std::string::npos) {
    return before_.size() + after_.size();
  }
  const std::size_t line = before_.rfind('\n');
  const std::size_t column = text::display_width(
      std::string_view(before_).substr(line == std::string::npos ? 0 : line + 1));
  const std::size_t end = std::min(after_.find('\n', newline + 1), after_.size());
  return before_.size() + at_column(after_, newline + 1, end, column);
}

}  // namespace laya::apps

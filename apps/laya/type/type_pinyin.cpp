#include "laya/type/type_pinyin.h"

#include <utility>

#include "pinyin/libime_data.h"

namespace laya::apps {
namespace {

using field::PinyinKey;
using field::PinyinKeyKind;

PinyinKey pinyin_key(const Key& key) {
  switch (key.kind) {
    case KeyKind::Text:
      return {.kind = PinyinKeyKind::Text, .text = key.text};
    case KeyKind::Pick:
      return {.kind = PinyinKeyKind::Pick, .number = static_cast<std::size_t>(key.number)};
    case KeyKind::Enter:
      return {.kind = PinyinKeyKind::Enter};
    case KeyKind::Escape:
    case KeyKind::EraseLine:
    case KeyKind::EraseWord:
      return {.kind = PinyinKeyKind::Escape};
    case KeyKind::Backspace:
      return {.kind = PinyinKeyKind::Backspace};
    case KeyKind::Up:
      return {.kind = PinyinKeyKind::PreviousPage};
    case KeyKind::Down:
      return {.kind = PinyinKeyKind::NextPage};
    case KeyKind::Paste:
    case KeyKind::Pinyin:
      return {.kind = PinyinKeyKind::Leave};
    case KeyKind::Redraw:
    case KeyKind::Quit:
      return {.kind = PinyinKeyKind::Other};
    default:
      return {.kind = PinyinKeyKind::Caret};
  }
}

}  // namespace

Status PinyinInput::toggle() {
  if (!on_ && model_ == nullptr) {
    auto data = pinyin::load_libime({});
    if (!data) return data.error();
    model_ = std::make_unique<predict::PinyinModel>(*engine_, std::move(*data));
    session_ = std::make_unique<predict::PinyinSession>(*model_);
  }
  on_ = !on_;
  buffer_.take_letters();
  return {};
}

PinyinInput::Answer PinyinInput::handle(const Key& key, std::string_view before) {
  const bool begins = letters().empty();
  field::PinyinAction action = buffer_.handle(pinyin_key(key), before);
  if (action.letters_changed && (begins || !action.commit.empty())) {
    // Beyond an error the letters are refused, which ask() tells.
    (void)session_->set_context(std::string(before) + action.commit);
  }
  if (action.letters_changed) {
    const field::PinyinRefusal refusal = ask();
    if (action.refusal == field::PinyinRefusal::None) action.refusal = refusal;
  }
  return {action.taken, std::move(action.commit), action.refusal};
}

// What the letters may mean, at once: the engine is in this process.
field::PinyinRefusal PinyinInput::ask() {
  (void)session_->set_letters(letters());  // reply() says what was refused
  const field::PinyinReply reply = session_->reply();
  buffer_.show(reply);
  return reply.refusal;
}

}  // namespace laya::apps

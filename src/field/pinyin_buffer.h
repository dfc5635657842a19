// PinyinBuffer: what the keys of pinyin input mean, between the keyboard and the text. Letters wait
// beside the text until something is chosen for them; only what is chosen goes into it.
//
// Every front end (terminal, input method) reuses it. It knows no engine: the front end asks one
// (predict::PinyinSession, or the daemon over the wire) what letters() may mean whenever an action
// says that they changed, and shows the answer to the buffer.
//
//   field::PinyinBuffer buffer;                                  // one per text field
//   buffer.enter(FieldKind::Text);                               // focus
//   const PinyinAction action = buffer.handle({.kind = PinyinKeyKind::Text, .text = "n"}, before);
//   if (action.letters_changed) buffer.show(ask(buffer.letters()));
//   insert(action.commit);                                       // at the caret; often nothing
//   if (!action.taken) handle_as_without_pinyin(key);
//   draw(buffer.letters(), buffer.page(), buffer.highlighted());
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "field/field_text.h"
#include "field/pinyin_reply.h"

namespace laya::field {

enum class PinyinKeyKind : std::uint8_t {
  Text,          ///< one character typed: PinyinKey::text. Letters, digits, marks, space
  Pick,          ///< candidate PinyinKey::number of the page, from 1
  Enter,         ///< the letters as they are
  Escape,        ///< drops the letters; so do keys that take back a word or a line
  Backspace,     ///< takes one letter back
  NextPage,      ///< so does "="
  PreviousPage,  ///< so does "-"
  Next,          ///< highlights the next candidate, over the page's end; Space chooses it
  Previous,      ///< the one before
  Caret,         ///< would move the caret: it stays where the letters will go
  Leave,         ///< a paste, the switch to another input: the letters stay as they are, the key
                 ///< does its own
  Other,         ///< not the text's business: redraw, quit
};

struct PinyinKey {
  PinyinKeyKind kind = PinyinKeyKind::Other;
  std::string_view text = {};
  std::size_t number = 0;
};

/// What to do about a key.
struct PinyinAction {
  bool taken = false;            ///< false: the key means what it means without pinyin
  bool letters_changed = false;  ///< an answer for letters() is wanted; none where they are empty
  /// Nothing has happened: the key chooses, and the answer for these letters has not come. show() it
  /// and give the key again; where none will come, commit what take_letters() gives.
  bool waits_for_answer = false;
  PinyinRefusal refusal = PinyinRefusal::None;  ///< why a letter was not taken
  std::string commit = {};                      ///< goes into the text at the caret, before the key
};

/// One thread. Text in, text out; no clock.
class PinyinBuffer {
 public:
  static constexpr std::size_t kPage = 5;  ///< candidates shown at once: those a digit reaches

  /// The field that keys go into from now on; drops letters that wait. In a blocked field no key is
  /// taken and none is looked at.
  void enter(FieldKind kind);

  /// One key. `before`: the text left of the caret; what was committed earlier is in it.
  PinyinAction handle(const PinyinKey& key, std::string_view before);

  /// The answer arrived; its text is copied. Kept only if it is for these letters, or, where the
  /// engine refused some, for the first of them: then the others are dropped. Returns true if kept.
  /// Not for an answer that was cancelled: ask again.
  bool show(const PinyinReply& reply);
  /// Whether the answer to letters() is there.
  bool is_answered() const { return answered_; }

  /// What is typed and not chosen; empty: nothing is being composed.
  std::string_view letters() const { return letters_; }
  /// Takes them all, as they are: focus lost, input switched.
  std::string take_letters();

  /// At most kPage candidates, in order; the letters themselves are the last of the first page.
  const std::vector<std::string>& page() const { return page_; }
  /// The one of page() that Space chooses; 0 where there is none.
  std::size_t highlighted() const { return highlighted_; }

 private:
  struct Entry {
    std::string text;
    std::uint16_t consumed = 0;
    PinyinKind kind = PinyinKind::Sentence;
  };
  PinyinAction compose(std::string_view text);
  PinyinAction choose_or_mark(std::string_view text);
  PinyinAction choose(std::size_t number);
  void letters_changed();
  void clear();
  void turn_page(std::ptrdiff_t pages);
  void highlight(std::ptrdiff_t steps);
  void fill_page();

  std::string letters_;
  std::vector<Entry> entries_;
  std::vector<std::string> page_;
  std::size_t first_ = 0;  // of entries_, on the page
  std::size_t highlighted_ = 0;
  FieldKind kind_ = FieldKind::Text;
  bool answered_ = false;
};

/// What a key types in Chinese text: "," is "，"; empty where it types itself. Behind a digit a
/// full stop, a comma or a colon stays what it is (3.14).
std::string_view chinese_mark(std::string_view key, std::string_view before);

}  // namespace laya::field

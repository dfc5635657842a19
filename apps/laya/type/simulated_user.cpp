#include "laya/type/simulated_user.h"

#include "base/utf8.h"
#include "text/grapheme.h"
#include "text/script.h"

namespace laya::apps {
namespace {

constexpr std::size_t kWorthAKey = 2;

char32_t first_of(std::string_view text) { return base::decode_utf8(text).code_point; }

char32_t last_of(std::string_view text) {
  return base::decode_utf8(text.substr(base::previous_code_point(text, text.size()))).code_point;
}

bool is_letter_or_digit(char32_t c) {
  const text::Script script = text::script_of(c);
  return script == text::Script::Latin || script == text::Script::Digit;
}

/// Whether `rest` begins with `insert` and the word is over there.
bool fits(std::string_view rest, std::string_view insert) {
  if (insert.empty() || !rest.starts_with(insert)) {
    return false;
  }
  const std::string_view behind = rest.substr(insert.size());
  return behind.empty() || !is_letter_or_digit(last_of(insert)) ||
         !is_letter_or_digit(first_of(behind));
}

}  // namespace

Move best_move(const TypeEditor& editor, std::string_view rest) {
  const std::size_t typed = text::next_grapheme(rest, 0);
  const bool newline = rest.substr(0, typed) == "\n";
  Move best{
      newline ? Key{KeyKind::Enter, {}} : Key{KeyKind::Text, std::string(rest.substr(0, typed))},
      1};
  const auto consider = [&](const Key& key, std::string_view insert) {
    if (!fits(rest, insert)) {
      return;
    }
    const std::size_t characters = text::count_graphemes(insert);
    if (characters >= kWorthAKey && characters > best.characters) {
      best = {key, characters};
    }
  };
  const std::string_view ghost = editor.ghost();
  consider({KeyKind::Right, {}}, ghost);
  std::string_view word = ghost.substr(0, text::first_word_length(ghost));
  while (word.size() > 1 && word.ends_with(' ')) {
    word.remove_suffix(1);  // as GhostState::accept_word leaves it
  }
  consider({KeyKind::Tab, {}}, word);
  int number = 0;
  for (const TypeEditor::Offer& offer : editor.offers()) {
    ++number;
    const bool pays_space =
        editor.owes_space() && !offer.insert.empty() && is_letter_or_digit(first_of(offer.insert));
    consider({KeyKind::Pick, {}, number}, pays_space ? " " + offer.insert : offer.insert);
  }
  return best;
}

}  // namespace laya::apps

#include "eval/ghost_match.h"

#include "base/utf8.h"
#include "eval/lines.h"
#include "text/script.h"

namespace laya::eval {
namespace {

bool is_word_letter(char32_t c) {
  const text::Script script = text::script_of(c);
  return script == text::Script::Latin || script == text::Script::Digit || c == '\'' ||
         c == U'\u2019';
}

}  // namespace

GhostMatch match_ghost(std::string_view ghost, std::string_view follows) {
  GhostMatch match;
  std::size_t in_ghost = 0;
  std::size_t in_text = 0;
  while (in_ghost < ghost.size() && in_text < follows.size()) {
    const base::Decoded shown = base::decode_utf8(ghost.substr(in_ghost));
    const base::Decoded typed = base::decode_utf8(follows.substr(in_text));
    if (lowered(ghost.substr(in_ghost, shown.length)) !=
        lowered(follows.substr(in_text, typed.length))) {
      return match;
    }
    in_ghost += shown.length;
    in_text += typed.length;
    // A word may end here: in the ghost and in the text.
    const bool inside = is_word_letter(shown.code_point);
    const bool ghost_goes_on = inside && in_ghost < ghost.size() &&
                               is_word_letter(base::decode_utf8(ghost.substr(in_ghost)).code_point);
    const bool text_goes_on = inside && in_text < follows.size() &&
                              is_word_letter(base::decode_utf8(follows.substr(in_text)).code_point);
    const bool blank = shown.code_point == ' ' && in_ghost < ghost.size();
    if (!ghost_goes_on && !text_goes_on && !blank) {
      match.accepted = in_text;
      match.first = match.first == 0 ? in_text : match.first;
      match.whole = in_ghost == ghost.size();
    }
  }
  return match;
}

}  // namespace laya::eval

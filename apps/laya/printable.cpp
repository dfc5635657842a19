#include "printable.h"

#include "base/utf8.h"

namespace laya::apps {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const base::Decoded& decoded : base::CodePoints(text)) {
    const char32_t c = decoded.code_point;
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    if (c == '\n') {
      out += "⏎";
    } else if (c == '\t') {
      out += ' ';
    } else {
      base::append_utf8(control ? base::kReplacementCharacter : c, out);
    }
  }
  return out;
}

}  // namespace laya::apps

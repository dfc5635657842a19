#include "base/printable.h"

#include "base/utf8.h"

namespace laya::base {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const Decoded& decoded : CodePoints(text)) {
    const char32_t c = decoded.code_point;
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
    if (c == '\n') {
      out += "⏎";
    } else if (c == '\t') {
      out += ' ';
    } else {
      append_utf8(control ? kReplacementCharacter : c, out);
    }
  }
  return out;
}

}  // namespace laya::base

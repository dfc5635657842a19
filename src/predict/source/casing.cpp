#include "predict/source/casing.h"

#include "base/utf8.h"

namespace laya::predict {
namespace {

bool is_upper(char32_t c) {
  return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7);
}
bool is_lower(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0xFE && c != 0xF7);
}

// Upper case of ASCII and Latin-1 letters, in UTF-8 of the same length; others stay (ÿ and ß have
// no such form).
void raise(char* bytes, std::size_t length) {
  if (length == 1 && bytes[0] >= 'a' && bytes[0] <= 'z') {
    bytes[0] = static_cast<char>(bytes[0] - 32);
  } else if (length == 2 && static_cast<unsigned char>(bytes[0]) == 0xC3) {
    const auto second = static_cast<unsigned char>(bytes[1]);
    if (second >= 0xA0 && second <= 0xBE && second != 0xB7) {  // à…þ less ÷
      bytes[1] = static_cast<char>(second - 0x20);
    }
  }
}

}  // namespace

bool is_all_caps(std::string_view text) {
  std::size_t upper = 0;
  for (const base::Decoded& code : base::CodePoints(text)) {
    if (is_lower(code.code_point)) {
      return false;
    }
    upper += is_upper(code.code_point) ? 1 : 0;
  }
  return upper >= 2;
}

std::size_t write_rest(std::string_view typed, std::string_view display, SentenceStart start,
                       std::span<char> out) {
  std::size_t skip = base::count_code_points(typed);
  const bool caps = is_all_caps(typed);
  bool first = typed.empty();
  std::size_t written = 0;
  for (const base::Decoded& code : base::CodePoints(display)) {
    const std::string_view bytes = display.substr(0, code.length);
    display.remove_prefix(code.length);
    if (skip > 0) {
      --skip;
      continue;
    }
    if (bytes.size() > out.size() - written) {
      break;
    }
    char* place = out.data() + written;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      place[i] = bytes[i];
    }
    if (caps || (first && start == SentenceStart::Yes)) {
      raise(place, bytes.size());
    }
    first = false;
    written += bytes.size();
  }
  return written;
}

}  // namespace laya::predict

#include "text/units.h"

#include <utf8proc.h>

#include <cstring>

#include "base/utf8.h"

namespace laya::text {
namespace {

constexpr std::string_view kEmailMark = "<EMAIL>";
constexpr std::string_view kUrlMark = "<URL>";
constexpr std::string_view kNumberMark = "<NUM>";
constexpr char32_t kApostrophe = 0x2019;  // ’

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

// Latin letters: ASCII, Latin-1 and Latin Extended-A/B less the two signs among them.
bool is_letter(char32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  return c >= 0xC0 && c <= 0x24F && c != 0xD7 && c != 0xF7;
}

bool is_han_character(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || c == 0x3007 ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x323AF);
}

// White space that separates and is no unit; '\n' is one.
bool is_blank(char32_t c) {
  return (c <= 0x20 && c != '\n') || c == 0xA0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200B) ||
         c == 0xFEFF;
}

char32_t lower(char32_t c) {
  if (c < 0x80) {
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
  }
  if (c == kApostrophe) {
    return '\'';
  }
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

std::size_t encode(char32_t c, char* out) {
  return static_cast<std::size_t>(utf8proc_encode_char(static_cast<utf8proc_int32_t>(c),
                                                       reinterpret_cast<utf8proc_uint8_t*>(out)));
}

base::Decoded decode_at(std::string_view text, std::size_t offset) {
  return base::decode_utf8(text.substr(offset));
}

// Past the word that begins at `begin`, its first letter being `first`.
std::size_t word_end(std::string_view text, std::size_t begin, const base::Decoded& first) {
  std::size_t end = begin + first.length;
  while (end < text.size()) {
    const base::Decoded next = decode_at(text, end);
    std::size_t after = end + next.length;
    if (next.status != base::Utf8Status::Valid) {
      break;
    }
    if (next.code_point == '\'' || next.code_point == kApostrophe) {
      if (after >= text.size()) {
        break;
      }
      const base::Decoded letter = decode_at(text, after);
      if (letter.status != base::Utf8Status::Valid || !is_letter(letter.code_point)) {
        break;
      }
      after += letter.length;
    } else if (!is_letter(next.code_point)) {
      break;
    }
    if (after - begin > kMaxUnitBytes) {
      break;
    }
    end = after;
  }
  return end;
}

}  // namespace

bool next_unit(std::string_view text, std::size_t offset, Unit* unit) {
  while (offset < text.size()) {
    const base::Decoded first = decode_at(text, offset);
    const std::size_t end = offset + first.length;
    if (first.status != base::Utf8Status::Valid) {
      *unit = {UnitKind::Symbol, offset, end};
      return true;
    }
    const char32_t c = first.code_point;
    if (c == '\n') {
      *unit = {UnitKind::LineEnd, offset, end};
      return true;
    }
    if (is_blank(c)) {
      offset = end;
      continue;
    }
    if (is_letter(c)) {
      *unit = {UnitKind::Word, offset, word_end(text, offset, first)};
    } else if (is_han_character(c)) {
      *unit = {UnitKind::Han, offset, end};
    } else if (is_digit(c)) {
      std::size_t last = end;
      while (last < text.size() && is_digit(static_cast<unsigned char>(text[last]))) {
        ++last;
      }
      *unit = {UnitKind::Number, offset, last};
    } else if (c == '<' && text.substr(offset).starts_with(kEmailMark)) {
      *unit = {UnitKind::Email, offset, offset + kEmailMark.size()};
    } else if (c == '<' && text.substr(offset).starts_with(kUrlMark)) {
      *unit = {UnitKind::Url, offset, offset + kUrlMark.size()};
    } else if (c == '<' && text.substr(offset).starts_with(kNumberMark)) {
      *unit = {UnitKind::Number, offset, offset + kNumberMark.size()};
    } else {
      *unit = {UnitKind::Symbol, offset, end};
    }
    return true;
  }
  return false;
}

bool unit_is_open(std::string_view text, const Unit& unit) {
  return unit.end == text.size() && (unit.kind == UnitKind::Word || unit.kind == UnitKind::Number);
}

void append_lower(std::string_view unit_text, std::string* out) {
  std::size_t offset = 0;
  while (offset < unit_text.size()) {
    const base::Decoded decoded = decode_at(unit_text, offset);
    if (decoded.status == base::Utf8Status::Valid) {
      char bytes[4];
      out->append(bytes, encode(lower(decoded.code_point), bytes));
    } else {
      out->append(unit_text.substr(offset, decoded.length));
    }
    offset += decoded.length;
  }
}

std::size_t copy_lower(std::string_view unit_text, char* buffer, std::size_t capacity) {
  std::size_t offset = 0;
  std::size_t written = 0;
  while (offset < unit_text.size()) {
    const base::Decoded decoded = decode_at(unit_text, offset);
    char bytes[4];
    std::size_t length = decoded.length;
    if (decoded.status == base::Utf8Status::Valid) {
      length = encode(lower(decoded.code_point), bytes);
    } else {
      std::memcpy(bytes, unit_text.data() + offset, length);
    }
    if (length > capacity - written) {
      break;
    }
    std::memcpy(buffer + written, bytes, length);
    written += length;
    offset += decoded.length;
  }
  return written;
}

}  // namespace laya::text

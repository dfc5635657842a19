#include "base/utf8.h"

namespace laya::base {
namespace {

/// What the first byte says: how many bytes, and the range of the second (Unicode 15, table 3-7).
/// length 0: cannot start.
struct Lead {
  std::uint8_t length;
  std::uint8_t low;
  std::uint8_t high;
};

constexpr Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};  // continuation bytes, and C0/C1: always overlong
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};  // below A0: overlong
  if (byte == 0xED) return {3, 0x80, 0x9F};  // above 9F: surrogates
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};  // below 90: overlong
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};  // above 8F: beyond U+10FFFF
  return {0, 0, 0};
}

constexpr bool is_continuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

Decoded decode_utf8(std::string_view text) {
  if (text.empty()) {
    return {Utf8Status::Incomplete, kReplacementCharacter, 0};
  }
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const Lead lead = lead_of(at(0));
  if (lead.length == 1) {
    return {Utf8Status::Valid, at(0), 1};
  }
  if (lead.length == 0) {
    return {Utf8Status::Invalid, kReplacementCharacter, 1};
  }
  // 2 bytes carry 5 bits in the first, 3 carry 4, 4 carry 3.
  char32_t code_point = at(0) & (0x7Fu >> lead.length);
  for (std::uint8_t i = 1; i < lead.length; ++i) {
    if (i >= text.size()) {
      return {Utf8Status::Incomplete, kReplacementCharacter, i};
    }
    const std::uint8_t byte = at(i);
    const bool good = i == 1 ? (byte >= lead.low && byte <= lead.high) : is_continuation(byte);
    if (!good) {
      return {Utf8Status::Invalid, kReplacementCharacter, i};
    }
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  return {Utf8Status::Valid, code_point, lead.length};
}

bool is_valid_utf8(std::string_view text) {
  for (const Decoded& decoded : CodePoints(text)) {
    if (decoded.status != Utf8Status::Valid) {
      return false;
    }
  }
  return true;
}

std::size_t complete_utf8_length(std::string_view text) {
  // An incomplete sequence at the end starts at most 3 bytes before it.
  const std::size_t reach = text.size() < 3 ? text.size() : 3;
  for (std::size_t back = 1; back <= reach; ++back) {
    const std::size_t start = text.size() - back;
    if (!is_continuation(static_cast<std::uint8_t>(text[start]))) {
      return decode_utf8(text.substr(start)).status == Utf8Status::Incomplete ? start : text.size();
    }
  }
  return text.size();
}

std::size_t encode_utf8(char32_t code_point, std::span<char, 4> out) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) {
    code_point = kReplacementCharacter;
  }
  std::size_t length = 0;
  const auto put = [&](char32_t byte) { out[length++] = static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
  return length;
}

void append_utf8(char32_t code_point, std::string& out) {
  char bytes[4];
  out.append(bytes, encode_utf8(code_point, bytes));
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t position = 0;
  for (const Decoded& decoded : CodePoints(text)) {
    if (decoded.status == Utf8Status::Valid) {
      out.append(text.substr(position, decoded.length));
    } else {
      append_utf8(kReplacementCharacter, out);
    }
    position += decoded.length;
  }
  return out;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for ([[maybe_unused]] const Decoded& decoded : CodePoints(text)) {
    ++count;
  }
  return count;
}

std::size_t previous_code_point(std::string_view text, std::size_t offset) {
  if (offset == 0) {
    return 0;
  }
  if (offset > text.size()) {
    offset = text.size();
  }
  for (std::size_t back = 1; back <= 4 && back <= offset; ++back) {
    const std::size_t start = offset - back;
    if (is_continuation(static_cast<std::uint8_t>(text[start]))) {
      continue;
    }
    const Decoded decoded = decode_utf8(text.substr(start, back));
    return decoded.status == Utf8Status::Valid && decoded.length == back ? start : offset - 1;
  }
  return offset - 1;
}

}  // namespace laya::base

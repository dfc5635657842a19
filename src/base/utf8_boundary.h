// Where characters begin in UTF-8 that is known to be valid: offsets that a cut may not miss.
#pragma once

#include <cstddef>
#include <string_view>

namespace laya::base {

/// A byte inside a character, not its first.
constexpr bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The first place at or behind `at` where a character begins, or the text ends.
constexpr std::size_t boundary_from(std::string_view text, std::size_t at) {
  while (at < text.size() && is_continuation(text[at])) {
    ++at;
  }
  return at < text.size() ? at : text.size();
}

/// The last place at or before `at` where a character begins, or the text ends.
constexpr std::size_t boundary_before(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return text.size();
  }
  while (at > 0 && is_continuation(text[at])) {
    --at;
  }
  return at;
}

}  // namespace laya::base

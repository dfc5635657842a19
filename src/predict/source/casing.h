// Casing: how a word is written at this place.
//
// Typed letters stay as they are. What follows them: upper case only if two or more typed letters
// are all upper case; else as the word is usually written inside a sentence. Nothing typed yet: as
// usually written, its first letter raised at a sentence's start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace laya::predict {

enum class SentenceStart : std::uint8_t { No, Yes };

/// Writes what follows `typed` of the word usually written `display` into `out`; returns the bytes
/// written. `display` begins with `typed` but for case (and ’ for '). Nothing that does not fit is
/// written, never half a character.
std::size_t write_rest(std::string_view typed, std::string_view display, SentenceStart start,
                       std::span<char> out);

/// Two or more letters, all of them upper case.
bool is_all_caps(std::string_view text);

}  // namespace laya::predict

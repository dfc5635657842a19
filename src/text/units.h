// Units: what the n-gram table counts. An English word, one Han character, one run of digits, one
// symbol, a line's end.
//
// The builder (ngram_builder.cpp) and the predictor cut text with this one function, so
// the table is asked for what it was taught. Units are not the network's subword pieces
// (src/text/tokenizer.h); both are cut from the same bytes. White space separates units and is
// never one. Nothing here allocates, except append_lower().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace laya::text {

enum class UnitKind : std::uint8_t {
  LineEnd,  ///< one '\n'
  Word,  ///< Latin letters with inner apostrophes: don't, café, iPhone; at most kMaxUnitBytes bytes
  Han,   ///< one Han character
  Number,  ///< a run of ASCII digits; all numbers are one class to the table
  Email,   ///< the corpus's placeholder <EMAIL>
  Url,     ///< the corpus's placeholder <URL>
  Symbol,  ///< any other single code point, or one byte that is not UTF-8
};

struct Unit {
  UnitKind kind;
  std::size_t begin;  ///< byte offset of the first byte
  std::size_t end;    ///< byte offset past the last byte
};

/// Longer words are cut: no word that anybody types is longer, and a megabyte of letters must not
/// become one key.
inline constexpr std::size_t kMaxUnitBytes = 64;

/// Reads the unit that begins at or after `offset` (white space but '\n' is skipped) into `*unit`;
/// false at the text's end. Any bytes are accepted. Reading goes on at unit->end; units found from
/// a unit's begin are the same as those found from 0, so after an edit only the units from the
/// edited one on need be read again.
bool next_unit(std::string_view text, std::size_t offset, Unit* unit);

/// True if more typing could still lengthen `unit`, the last one of `text`: a word or number that
/// touches the end.
bool unit_is_open(std::string_view text, const Unit& unit);

/// Appends to `*out` the table's key of a Word: lower case (ASCII and Latin letters), ’ as '. Han
/// and symbols come out as they are.
void append_lower(std::string_view unit_text, std::string* out);

/// The same into a fixed buffer: writes at most `capacity` bytes, never half a code point; returns
/// the number written.
std::size_t copy_lower(std::string_view unit_text, char* buffer, std::size_t capacity);

}  // namespace laya::text

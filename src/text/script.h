// What kind of character it is, and where words begin and end, in Chinese and English mixed as
// people write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace laya::text {

enum class Script : std::uint8_t {
  Han,          ///< ideographs, all planes, and 〇々
  Latin,        ///< letters of the Latin script, with or without marks
  Digit,        ///< 0-9 and full-width digits
  Punctuation,  ///< ASCII, general and CJK punctuation and signs
  Space,        ///< blanks and line ends of every kind
  Other,        ///< other letters (kana, Cyrillic, …), emoji, marks, controls, U+FFFD
};

Script script_of(char32_t code_point);

/// One Han character (the ranges of Unicode 15: U+3400–4DBF, 4E00–9FFF, F900–FAFF, 20000–323AF,
/// 3005, 3007).
bool is_han(char32_t code_point);
/// Punctuation of Chinese text that is written without spaces: U+3000–303F less Han, and the
/// full-width forms U+FF01–FF65 less letters and digits.
bool is_cjk_punctuation(char32_t code_point);

/// Whether `code_point` can stand inside an English word: Latin letters, digits, and the
/// apostrophes ' and ’ and the hyphen between them (the caller checks both sides).
bool is_word_character(char32_t code_point);

/// The word being typed at the end of `text`: the trailing run of Latin letters, digits and inner
/// apostrophes/hyphens; "" behind a space, punctuation or a Han character. A view into `text`.
std::string_view trailing_word(std::string_view text);

/// The first word of `text` as accepted by one key: blanks in front, then one word — a Latin/digit
/// run with inner apostrophes, or one Han run, or one punctuation run — and one space behind it if
/// there is one. 0 only for "". Returned as bytes.
std::size_t first_word_length(std::string_view text);

/// How many bytes Ctrl-Backspace erases at the end of `text`: trailing spaces and the word before
/// them. Han: one character.
std::size_t last_word_length(std::string_view text);

/// Whether a new sentence starts behind `text`: it is empty, or ends (spaces ignored) in . ! ? …
/// 。！？ or a newline. An unknown left context is the caller's to know.
bool at_sentence_start(std::string_view text);

}  // namespace laya::text

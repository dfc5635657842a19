// The expressions, as the tokenizer.json files of the models have them (Oniguruma syntax; {L}
// letters, {N} numbers, \s Unicode White_Space):
//   Gpt2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   SmolLm  \p{N} alone, and Gpt2 on what lies between
//   Llama3  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
//           | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//   Qwen2   as Llama3 with \p{N} for \p{N}{1,3}
// Alternatives are tried from the left and the first that fits is taken, as written.
#include "text/subword_pretokenizer.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace laya::text {
namespace {

enum class Class : std::uint8_t {
  End,      ///< no character is there (or, inside SmolLm's pieces, a number)
  Letter,   ///< \p{L}
  Number,   ///< \p{N}
  Space,    ///< \s but the two below
  NewLine,  ///< \r or \n
  Other,    ///< [^\s\p{L}\p{N}]; ill-formed bytes too
};

struct Character {
  Class kind;
  std::uint8_t bytes;
};

constexpr std::array<Class, 128> kAscii = [] {
  std::array<Class, 128> table{};
  for (int c = 0; c < 128; ++c) {
    table[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? Class::Letter
               : c >= '0' && c <= '9'                           ? Class::Number
               : c == '\r' || c == '\n'                         ? Class::NewLine
               : c == ' ' || (c >= 9 && c <= 13)                ? Class::Space
                                                                : Class::Other;
  }
  return table;
}();

/// Letters and numbers of Unicode 15.1 and 16, which utf8proc 2.8 (Unicode 15.0) does not know yet
/// and `tokenizers` 0.23 does. Looked at only where utf8proc says "unassigned".
struct Range {
  char32_t first;
  char32_t last;
  Class kind;
};
constexpr Range kNewer[] = {{0x1C89, 0x1C8A, Class::Letter},   {0xA7CB, 0xA7CD, Class::Letter},
                            {0xA7DA, 0xA7DC, Class::Letter},   {0x105C0, 0x105F3, Class::Letter},
                            {0x10D40, 0x10D49, Class::Number}, {0x10D4A, 0x10D65, Class::Letter},
                            {0x10D6F, 0x10D85, Class::Letter}, {0x10EC2, 0x10EC4, Class::Letter},
                            {0x11380, 0x11389, Class::Letter}, {0x1138B, 0x1138B, Class::Letter},
                            {0x1138E, 0x1138E, Class::Letter}, {0x11390, 0x113B5, Class::Letter},
                            {0x113B7, 0x113B7, Class::Letter}, {0x113D1, 0x113D1, Class::Letter},
                            {0x113D3, 0x113D3, Class::Letter}, {0x116D0, 0x116E3, Class::Number},
                            {0x11BC0, 0x11BE0, Class::Letter}, {0x11BF0, 0x11BF9, Class::Number},
                            {0x13460, 0x143FA, Class::Letter}, {0x16100, 0x1611D, Class::Letter},
                            {0x16130, 0x16139, Class::Number}, {0x16D40, 0x16D6C, Class::Letter},
                            {0x16D70, 0x16D79, Class::Number}, {0x18CFF, 0x18CFF, Class::Letter},
                            {0x1CCF0, 0x1CCF9, Class::Number}, {0x1E5D0, 0x1E5ED, Class::Letter},
                            {0x1E5F0, 0x1E5F0, Class::Letter}, {0x1E5F1, 0x1E5FA, Class::Number},
                            {0x2EBF0, 0x2EE5D, Class::Letter}};

Class newer_class_of(char32_t c) {
  for (const Range& range : kNewer) {
    if (c >= range.first && c <= range.last) {
      return range.kind;
    }
  }
  return Class::Other;
}

Class class_of(char32_t c) {
  if (c < 128) {
    return kAscii[c];
  }
  if (c == 0x85) {  // a control character by category, but White_Space
    return Class::Space;
  }
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return Class::Letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return Class::Number;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Class::Space;
    case UTF8PROC_CATEGORY_CN:
      return newer_class_of(c);
    default:
      return Class::Other;
  }
}

bool is_blank(Class kind) { return kind == Class::Space || kind == Class::NewLine; }

enum class Numbers { Visible, EndThePiece };

/// Reads characters and remembers whether it ever had to know where the text ends.
class Reader {
 public:
  Reader(std::string_view text, Numbers numbers) : text_(text), numbers_(numbers) {}

  Character at(std::size_t place) {
    if (place >= text_.size()) {
      saw_end_ = true;
      return {Class::End, 0};
    }
    Character found{Class::Other, 1};
    const auto byte = static_cast<std::uint8_t>(text_[place]);
    if (byte < 128) {
      found.kind = kAscii[byte];
    } else {
      const base::Decoded decoded = base::decode_utf8(text_.substr(place));
      if (decoded.status == base::Utf8Status::Valid) {
        found = {class_of(decoded.code_point), decoded.length};
      } else if (decoded.status == base::Utf8Status::Incomplete) {
        saw_end_ = true;  // what is appended may complete it
      }
    }
    return found.kind == Class::Number && numbers_ == Numbers::EndThePiece
               ? Character{Class::End, 0}
               : found;
  }
  /// The byte at `place`, 0 behind the end.
  char byte(std::size_t place) {
    if (place >= text_.size()) {
      saw_end_ = true;
      return 0;
    }
    return text_[place];
  }
  /// The end of the run of `kind` that starts at `place`.
  std::size_t skip(std::size_t place, Class kind) {
    for (Character next = at(place); next.kind == kind; next = at(place)) {
      place += next.bytes;
    }
    return place;
  }
  bool saw_end() const { return saw_end_; }

 private:
  std::string_view text_;
  Numbers numbers_;
  bool saw_end_ = false;
};

enum class Case { Exact, Ignored };

/// Length of 's, 't, 're, 've, 'm, 'll or 'd at the front, or 0.
std::size_t contraction(Reader& reader, Case letter_case) {
  if (reader.byte(0) != '\'') {
    return 0;
  }
  const auto letter = [&](std::size_t place) {
    const char byte = reader.byte(place);
    return letter_case == Case::Ignored && byte >= 'A' && byte <= 'Z'
               ? static_cast<char>(byte + ('a' - 'A'))
               : byte;
  };
  switch (letter(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return letter(2) == 'e' ? 3 : 0;
    case 'l':
      return letter(2) == 'l' ? 3 : 0;
    case '\xC5':  // U+017F, the long s, which is an s where case is ignored
      return letter_case == Case::Ignored && reader.byte(2) == '\xBF' ? 3 : 0;
    default:
      return 0;
  }
}

/// \s+(?!\S)|\s+ on a run of blanks that ends at `end`, whose last one starts at `last`: all of it
/// where nothing follows, else all but the last, else that one.
std::size_t blanks(Reader& reader, std::size_t last, std::size_t end) {
  return reader.at(end).kind == Class::End || last == 0 ? end : last;
}

std::size_t gpt2(Reader& reader) {
  if (const std::size_t length = contraction(reader, Case::Exact); length > 0) {
    return length;
  }
  const Character first = reader.at(0);
  if (!is_blank(first.kind)) {
    return reader.skip(first.bytes, first.kind);
  }
  if (reader.byte(0) == ' ') {
    const Character second = reader.at(1);
    if (second.kind != Class::End && !is_blank(second.kind)) {
      return reader.skip(1 + second.bytes, second.kind);
    }
  }
  std::size_t last = 0;
  std::size_t end = first.bytes;
  for (Character next = reader.at(end); is_blank(next.kind); next = reader.at(end)) {
    last = end;
    end += next.bytes;
  }
  return blanks(reader, last, end);
}

std::size_t llama3(Reader& reader, std::size_t most_digits) {
  if (const std::size_t length = contraction(reader, Case::Ignored); length > 0) {
    return length;
  }
  const Character first = reader.at(0);
  if (first.kind == Class::Letter) {
    return reader.skip(first.bytes, Class::Letter);
  }
  if (first.kind == Class::Number) {
    std::size_t end = first.bytes;
    for (std::size_t digits = 1; digits < most_digits; ++digits) {
      const Character next = reader.at(end);
      if (next.kind != Class::Number) {
        break;
      }
      end += next.bytes;
    }
    return end;
  }
  if (first.kind != Class::NewLine) {
    const Character second = reader.at(first.bytes);
    if (second.kind == Class::Letter) {
      return reader.skip(first.bytes + second.bytes, Class::Letter);
    }
    if (first.kind == Class::Other || (reader.byte(0) == ' ' && second.kind == Class::Other)) {
      return reader.skip(reader.skip(first.bytes, Class::Other), Class::NewLine);
    }
  }
  std::size_t last = 0;
  std::size_t end = first.bytes;
  std::size_t behind_newline = first.kind == Class::NewLine ? end : 0;
  for (Character next = reader.at(end); is_blank(next.kind); next = reader.at(end)) {
    last = end;
    end += next.bytes;
    behind_newline = next.kind == Class::NewLine ? end : behind_newline;
  }
  return behind_newline > 0 ? behind_newline : blanks(reader, last, end);
}

}  // namespace

PreToken next_pretoken(PreTokenizer kind, std::string_view text) {
  Reader reader(text, kind == PreTokenizer::SmolLm ? Numbers::EndThePiece : Numbers::Visible);
  std::size_t length = 0;
  switch (kind) {
    case PreTokenizer::None:
      return {text.size(), false};
    case PreTokenizer::Gpt2:
      length = gpt2(reader);
      break;
    case PreTokenizer::SmolLm: {
      Reader whole(text, Numbers::Visible);
      const Character first = whole.at(0);
      if (first.kind == Class::Number) {
        return {first.bytes, true};
      }
      length = gpt2(reader);
      break;
    }
    case PreTokenizer::Llama3:
      length = llama3(reader, 3);
      break;
    case PreTokenizer::Qwen2:
      length = llama3(reader, 1);
      break;
  }
  return {length, !reader.saw_end()};
}

}  // namespace laya::text

#include "text/script.h"

#include <utf8proc.h>

#include "base/utf8.h"

namespace laya::text {
namespace {

struct Last {
  char32_t code_point;
  std::size_t length;
};

Last last_character(std::string_view text) {
  const std::size_t start = base::previous_code_point(text, text.size());
  return {base::decode_utf8(text.substr(start)).code_point, text.size() - start};
}

bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }
bool is_joiner(char32_t c) { return is_apostrophe(c) || c == '-'; }

bool is_latin(char32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  // Latin-1, Extended-A/B, IPA, phonetic, Additional; × and ÷ are no letters.
  return (c >= 0xC0 && c <= 0x24F && c != 0xD7 && c != 0xF7) || c == 0xAA || c == 0xBA ||
         (c >= 0x250 && c <= 0x2AF) || (c >= 0x1E00 && c <= 0x1EFF) ||
         (c >= 0xFF21 && c <= 0xFF3A) || (c >= 0xFF41 && c <= 0xFF5A);
}

}  // namespace

bool is_han(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || c == 0x3005 ||
         c == 0x3007 || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x323AF);
}

bool is_cjk_punctuation(char32_t c) {
  return (c >= 0x3000 && c <= 0x303F && c != 0x3005 && c != 0x3007) ||
         (c >= 0xFF01 && c <= 0xFF0F) || (c >= 0xFF1A && c <= 0xFF20) ||
         (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65);
}

Script script_of(char32_t c) {
  if (is_latin(c)) {
    return Script::Latin;
  }
  if ((c >= '0' && c <= '9') || (c >= 0xFF10 && c <= 0xFF19)) {
    return Script::Digit;
  }
  if (is_han(c)) {
    return Script::Han;
  }
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Script::Space;
    case UTF8PROC_CATEGORY_CC:
      return (c >= 0x09 && c <= 0x0D) || c == 0x85 ? Script::Space : Script::Other;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
      return Script::Punctuation;
    default:
      return Script::Other;
  }
}

bool is_word_character(char32_t c) {
  const Script script = script_of(c);
  return script == Script::Latin || script == Script::Digit || is_joiner(c);
}

std::string_view trailing_word(std::string_view text) {
  std::size_t start = text.size();
  while (start > 0) {
    const Last last = last_character(text.substr(0, start));
    if (!is_word_character(last.code_point)) {
      break;
    }
    start -= last.length;
  }
  // A joiner is part of a word only behind a letter: "'tis" and "--help" start at the letter.
  while (start < text.size()) {
    const base::Decoded first = base::decode_utf8(text.substr(start));
    if (!is_joiner(first.code_point)) {
      break;
    }
    start += first.length;
  }
  // "--" inside: the word starts behind it.
  const std::string_view word = text.substr(start);
  if (const std::size_t dashes = word.rfind("--"); dashes != std::string_view::npos) {
    return word.substr(dashes + 2);
  }
  return word;
}

std::size_t first_word_length(std::string_view text) {
  std::size_t at = 0;
  const auto peek = [&](std::size_t offset) { return base::decode_utf8(text.substr(offset)); };
  while (at < text.size() && script_of(peek(at).code_point) == Script::Space) {
    at += peek(at).length;
  }
  if (at == text.size()) {
    return at;
  }
  const auto group = [](char32_t c) {
    const Script script = script_of(c);
    return script == Script::Digit ? Script::Latin : script;
  };
  const Script kind = group(peek(at).code_point);
  while (at < text.size()) {
    const base::Decoded here = peek(at);
    if (group(here.code_point) != kind) {
      const std::size_t next = at + here.length;
      const bool inside = kind == Script::Latin && is_joiner(here.code_point) &&
                          next < text.size() && group(peek(next).code_point) == Script::Latin;
      if (!inside) {
        break;
      }
    }
    at += here.length;
  }
  if (at < text.size() && text[at] == ' ') {
    ++at;
  }
  return at;
}

std::size_t last_word_length(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] == ' ') {
    --end;
  }
  if (end == 0) {
    return text.size();
  }
  const std::string_view rest = text.substr(0, end);
  std::size_t word = trailing_word(rest).size();
  if (word == 0) {
    word = last_character(rest).length;
  }
  return text.size() - end + word;
}

bool at_sentence_start(std::string_view text) {
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  if (text.empty()) {
    return true;
  }
  switch (last_character(text).code_point) {
    case '.':
    case '!':
    case '?':
    case '\n':
    case 0x2026:  // …
    case 0x3002:  // 。
    case 0xFF01:  // ！
    case 0xFF1F:  // ？
      return true;
    default:
      return false;
  }
}

}  // namespace laya::text

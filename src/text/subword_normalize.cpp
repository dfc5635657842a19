#include "text/subword_normalize.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "text/normalize.h"

namespace laya::text {
namespace {

/// Whether `c` may change together with what stands on its left: a mark, or a vowel or a final of a
/// Hangul syllable (all characters of NFC_Quick_Check = Maybe and all of a combining class ≠ 0;
/// Unicode Standard Annex 15, section 9).
bool joins_left(char32_t c) {
  if (c < 0x300) {
    return false;
  }
  if (c >= 0x1160 && c <= 0x11FF) {
    return true;
  }
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

/// Whether nothing that follows can change `c`: no composition begins with it. A few ranges that
/// text is full of; all others may.
bool is_settled(char32_t c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return (c < 0x80 && !letter && c != '<' && c != '=' && c != '>') ||
         (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x2010 && c <= 0x2027) ||
         (c >= 0x3000 && c <= 0x3003) || (c >= 0xFF00 && c <= 0xFF60);
}

}  // namespace

void normalize_nfc_mapped(std::string_view text, std::string& out,
                          std::vector<std::uint32_t>& source_at) {
  out.clear();
  source_at.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    // One character and all that may join it; ill-formed bytes stand alone.
    base::Decoded decoded = base::decode_utf8(text.substr(begin));
    std::size_t end = begin + decoded.length;
    const bool valid = decoded.status == base::Utf8Status::Valid;
    while (valid && end < text.size()) {
      decoded = base::decode_utf8(text.substr(end));
      if (decoded.status != base::Utf8Status::Valid || !joins_left(decoded.code_point)) {
        break;
      }
      end += decoded.length;
    }
    const std::string_view source = text.substr(begin, end - begin);
    const std::size_t before = out.size();
    if (is_nfc(source)) {
      out += source;
      for (std::size_t i = 0; i < source.size(); ++i) {
        source_at.push_back(static_cast<std::uint32_t>(begin + i));
      }
    } else {
      out += normalize_nfc(source);
      source_at.push_back(static_cast<std::uint32_t>(begin));
      source_at.resize(source_at.size() + (out.size() - before - 1),
                       static_cast<std::uint32_t>(end));
    }
    begin = end;
  }
  source_at.push_back(static_cast<std::uint32_t>(text.size()));
}

std::size_t nfc_closed_bytes(std::string_view text) {
  // Half a character at the end may become a mark.
  std::size_t at = base::complete_utf8_length(text);
  while (at > 0) {
    const std::size_t behind = at;
    at = base::previous_code_point(text, at);
    const base::Decoded decoded = base::decode_utf8(text.substr(at));
    if (decoded.status != base::Utf8Status::Valid || is_settled(decoded.code_point)) {
      return behind;
    }
    if (!joins_left(decoded.code_point)) {
      break;
    }
  }
  return at;
}

}  // namespace laya::text

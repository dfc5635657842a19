#include "text/normalize.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "base/utf8.h"

namespace laya::text {
namespace {

/// Code points that are in NFC whatever stands around them: they neither decompose nor combine with
/// what is on their left.
bool is_inert(char32_t c) {
  return c < 0x300 || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x2010 && c <= 0x2027) ||
         (c >= 0x3000 && c <= 0x3029) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F300 && c <= 0x1FAFF);
}

/// Appends the NFC of `text`, which is well-formed.
void append_nfc(std::string_view text, std::string& out) {
  bool inert = true;
  for (const base::Decoded& decoded : base::CodePoints(text)) {
    if (!is_inert(decoded.code_point)) {
      inert = false;
      break;
    }
  }
  if (inert) {
    out += text;
    return;
  }
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  if (length < 0) {
    out += text;  // a code point that utf8proc does not know: leave it as it is
    return;
  }
  out.append(reinterpret_cast<const char*>(composed), static_cast<std::size_t>(length));
}

}  // namespace

std::string normalize_nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t valid_from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const base::Decoded decoded = base::decode_utf8(text.substr(at));
    if (decoded.status != base::Utf8Status::Valid) {
      append_nfc(text.substr(valid_from, at - valid_from), out);
      out += text.substr(at, decoded.length);
      valid_from = at + decoded.length;
    }
    at += decoded.length;
  }
  append_nfc(text.substr(valid_from), out);
  return out;
}

bool is_nfc(std::string_view text) {
  for (const base::Decoded& decoded : base::CodePoints(text)) {
    if (decoded.status == base::Utf8Status::Valid && !is_inert(decoded.code_point)) {
      return normalize_nfc(text) == text;
    }
  }
  return true;
}

}  // namespace laya::text

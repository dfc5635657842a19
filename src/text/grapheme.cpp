#include "text/grapheme.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"
#include "text/script.h"

namespace laya::text {
namespace {

constexpr std::size_t kMaxLookBackBytes =
    512;  // 100 flags in a row; clusters of real text are below 50 bytes
constexpr char32_t kEmojiPresentation = 0xFE0F;

bool is_regional_indicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }

/// Characters that never join with one another, whatever stands around them (CR LF apart).
bool stands_alone(char32_t c) { return (c >= 0x20 && c < 0x7F) || c == '\n' || is_han(c); }

}  // namespace

std::size_t next_grapheme(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) {
    return text.size();
  }
  base::Decoded before = base::decode_utf8(text.substr(offset));
  if (before.status != base::Utf8Status::Valid) {
    return offset + 1;
  }
  offset += before.length;
  utf8proc_int32_t state = 0;
  while (offset < text.size()) {
    const base::Decoded next = base::decode_utf8(text.substr(offset));
    if (next.status != base::Utf8Status::Valid ||
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state)) {
      break;
    }
    offset += next.length;
    before = next;
  }
  return offset;
}

std::size_t previous_grapheme(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  if (offset == 0) {
    return 0;
  }
  // Back to a place that is a boundary for certain, then forward to the last boundary before
  // `offset`.
  std::size_t start = base::previous_code_point(text, offset);
  while (start > 0 && offset - start < kMaxLookBackBytes) {
    const std::size_t before = base::previous_code_point(text, start);
    const base::Decoded left = base::decode_utf8(text.substr(before, start - before));
    const base::Decoded right = base::decode_utf8(text.substr(start));
    const bool certain = left.status != base::Utf8Status::Valid ||
                         right.status != base::Utf8Status::Valid ||
                         (stands_alone(left.code_point) && stands_alone(right.code_point));
    if (certain) {
      break;
    }
    start = before;
  }
  std::size_t end = next_grapheme(text, start);
  while (end < offset) {
    start = end;
    end = next_grapheme(text, start);
  }
  return start;
}

std::size_t count_graphemes(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at = next_grapheme(text, at)) {
    ++count;
  }
  return count;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = next_grapheme(text, at);
    int widest = 0;
    int indicators = 0;
    for (const base::Decoded& decoded : base::CodePoints(text.substr(at, end - at))) {
      const int here = decoded.code_point == kEmojiPresentation
                           ? 2
                           : utf8proc_charwidth(static_cast<utf8proc_int32_t>(decoded.code_point));
      widest = std::max(widest, here);
      indicators += is_regional_indicator(decoded.code_point) ? 1 : 0;
    }
    width += static_cast<std::size_t>(indicators >= 2 ? 2 : widest);
    at = end;
  }
  return width;
}

}  // namespace laya::text

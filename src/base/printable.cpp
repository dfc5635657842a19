#include "base/printable.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace laya::base {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// DerivedCoreProperties.txt (Default_Ignorable_Code_Point) and Cc, Cf, Zl, Zp of Unicode 15, in
// order, without the joiners and selectors below. Prepended Arabic number signs (U+0600…) are Cf
// but seen, so they are left out.
constexpr std::array kDeceptive = {
    Range{0x0000, 0x001F},   Range{0x007F, 0x009F},   Range{0x00AD, 0x00AD},
    Range{0x034F, 0x034F},   Range{0x061C, 0x061C},   Range{0x115F, 0x1160},
    Range{0x17B4, 0x17B5},   Range{0x180E, 0x180E},   Range{0x200B, 0x200B},
    Range{0x200E, 0x200F},   Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
    Range{0x3164, 0x3164},   Range{0xFDD0, 0xFDEF},   Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB},   Range{0xFFFE, 0xFFFF},
    Range{0x13430, 0x1343F}, Range{0x1BCA0, 0x1BCA3}, Range{0x1D173, 0x1D17A},
    Range{0xE0000, 0xE00FF}, Range{0xE01F0, 0xE0FFF}, Range{0xF0000, 0x10FFFF},
};

constexpr char32_t kBlackFlag = 0x1F3F4;

bool is_tag(char32_t c) { return c >= 0xE0020 && c <= 0xE007F; }

/// Written between characters, seen in how these look.
bool is_joiner(char32_t c) {
  return c == 0x200C || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F) ||
         (c >= 0x180B && c <= 0x180D) || c == 0x180F || (c >= 0xE0100 && c <= 0xE01EF);
}

void append_escape(char32_t c, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto unit = [&](char32_t value) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[value >> shift & 15];
  };
  if (c > 0xFFFF) {
    unit(0xD800 + ((c - 0x10000) >> 10));
    unit(0xDC00 + ((c - 0x10000) & 0x3FF));
  } else {
    unit(c);
  }
}

}  // namespace

bool is_deceptive(char32_t code_point) {
  const auto* range = std::lower_bound(kDeceptive.begin(), kDeceptive.end(), code_point,
                                       [](const Range& r, char32_t c) { return r.last < c; });
  return range != kDeceptive.end() && code_point >= range->first;
}

void PrintableFilter::take(char32_t c, std::string& out) {
  flag_ = c == kBlackFlag || (flag_ && is_tag(c));
  if (c == '\n' || c == '\t') {
    out += lines_ == Lines::Kept ? std::string_view(c == '\n' ? "\n" : "\t")
                                 : std::string_view(c == '\n' ? "⏎" : " ");
  } else {
    const bool out_of_place = is_joiner(c) && before_ < 0x80;
    const bool hidden = out_of_place || (is_deceptive(c) && !(flag_ && is_tag(c)));
    append_utf8(hidden ? kReplacementCharacter : c, out);
  }
  before_ = c;
}

void PrintableFilter::feed(std::string_view bytes, std::string& out) {
  half_ += bytes;
  const std::size_t whole = complete_utf8_length(half_);
  for (const Decoded& decoded : CodePoints(std::string_view(half_).substr(0, whole))) {
    take(decoded.code_point, out);
  }
  half_.erase(0, whole);
}

void PrintableFilter::finish(std::string& out) {
  if (!half_.empty()) take(kReplacementCharacter, out);
  half_.clear();
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  PrintableFilter filter(PrintableFilter::Lines::Shown);
  filter.feed(text, out);
  filter.finish(out);
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const Decoded& decoded : CodePoints(json)) {
    const char32_t c = decoded.code_point;
    // Outside of strings JSON is ASCII, and inside of them it has no control character below U+0020.
    if (c >= 0x20 && (is_deceptive(c) || is_joiner(c))) {
      append_escape(c, out);
    } else {
      append_utf8(c, out);
    }
  }
  return out;
}

}  // namespace laya::base

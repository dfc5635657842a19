// Extended grapheme clusters (Unicode Standard Annex 29): what a user calls one character. A caret
// stops, a Backspace erases and a ghost shortens by whole clusters only: a flag, a family emoji
// joined by ZWJ, a letter with its accents are one each.
#pragma once

#include <cstddef>
#include <string_view>

namespace laya::text {

/// The end of the cluster that starts at byte `offset`, > offset unless offset >= text.size() (then
/// text.size()). An ill-formed byte is a cluster of its own. `offset` must be a cluster boundary.
std::size_t next_grapheme(std::string_view text, std::size_t offset);

/// The start of the cluster that ends at byte `offset`; 0 for 0. Looks back as far as is needed to
/// be sure, at most 512 bytes.
std::size_t previous_grapheme(std::string_view text, std::size_t offset);

/// Clusters in `text`. Half a sequence at the end counts.
std::size_t count_graphemes(std::string_view text);

/// Columns that `text` takes on a terminal: 2 for CJK and emoji, 0 for marks and controls
/// (utf8proc's width table, per cluster: its widest code point; emoji presentation U+FE0F makes 2).
std::size_t display_width(std::string_view text);

}  // namespace laya::text

// Cuts text before merging, as the regular expressions of byte-level models do; written by hand
// over Unicode classes, so that no regex engine is needed. Equal to them on all code points.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/subword_parts.h"

namespace laya::text {

/// One pre-token: its length, and whether it is the same whatever is appended to the text.
struct PreToken {
  std::size_t bytes;
  bool closed;
};

/// The pre-token at the front of `text` (not empty). Starting again behind it gives the same cuts
/// as the expression does on the whole text: none looks back. Ill-formed bytes count as
/// characters that are neither letter, number nor blank, one by one.
PreToken next_pretoken(PreTokenizer kind, std::string_view text);

}  // namespace laya::text

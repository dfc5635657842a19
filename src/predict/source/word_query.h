// What is asked of the sources at a key, from the text alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "predict/source/source.h"
#include "predict/source/typed_text.h"
#include "text/units.h"

namespace laya::predict {

inline constexpr std::size_t kMaxPrefixLetters = 32;  ///< longer runs of letters are no words

using PrefixBytes = std::array<char, 2 * text::kMaxUnitBytes>;

/// prefix, typed and other_case for `text`'s open word (at most kMaxPrefixLetters letters). `bytes`
/// holds the prefix; both views live as long as the text and it do.
WordQuery word_query(const TypedText& text, PrefixBytes* bytes);

}  // namespace laya::predict

// Slips of the fingers on a QWERTY keyboard: which key stands beside which, what may go wrong at a
// character, and how long fingers take from key to key. Used by the simulator; corrections are
// measured on its words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/key_log.h"
#include "model/core/split_mix.h"

namespace laya::eval {

/// Distance of two keys in key widths; 0 for the same key (letters of either case), negative where
/// one of them is not on the keyboard.
double key_distance(char a, char b);

/// The keys that a finger may hit instead of `c`, nearest first; case kept. Empty for what is no
/// letter or digit.
std::string neighbour_keys(char c);

/// How much longer than the typist's usual interval the way from `from` to `to` takes: below 1 for
/// another hand or the same key again, above 1 for the same finger elsewhere, capitals and marks.
/// Rough, by classes; what matters is that rhythm carries information as people's does.
double interval_factor(char32_t from, char32_t to);

/// What was typed in place of the front of what was meant.
struct Slip {
  SlipKind kind = SlipKind::None;
  std::size_t meant_bytes = 0;  ///< of the text meant, from the offset asked for
  std::string typed = {};       ///< may be empty (Omitted)
};

/// Draws a slip at byte `offset` of `meant` among those that can happen there
/// (KEYLOG.md has the odds); none where none can (a Han character, an emoji). What was typed always
/// differs from what was meant.
std::optional<Slip> draw_slip(std::string_view meant, std::size_t offset, model::SplitMix& random);

/// A word with one slip in it, never at its space; none for a word that none fits.
std::optional<std::string> slipped_word(std::string_view word, model::SplitMix& random,
                                        SlipKind* kind);

}  // namespace laya::eval

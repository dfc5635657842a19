// Training pairs out of key logs: what stood there and how the word went on, what was shown and
// what was picked, what was typed and what it was made into. They come from what was done alone, so
// a person's log gives the same as a simulated one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eval/key_log.h"

namespace laya::eval {

enum class PairKind : std::uint8_t { Completion, Pick, Edit };

/// Completion: `typed` is what stood of a word (may be empty), `became` the whole word.
/// Pick: `typed` likewise, `became` the entry of `offers` that was taken (or "": a ghost).
/// Edit: `typed` is a word that was changed, `became` what it was changed into.
struct TypingPair {
  PairKind kind = PairKind::Completion;
  std::string before = {};  ///< the text left of the word
  std::string typed = {};
  std::string became = {};
  std::vector<std::string> offers = {};  ///< Pick

  bool operator==(const TypingPair&) const = default;
};

/// The pairs of `session` in the order of its events. A completion for every key after which the
/// text left of the caret stayed as it was to the end; edits whose two words are alike (at most
/// two letters changed, left out, added or swapped): other changes are of mind, not of fingers.
/// A session that does not play (parse_key_log refuses those) gives those before its fault.
std::vector<TypingPair> typing_pairs(const KeySession& session);

/// One JSON object on one line, with its newline:
/// {"kind":"completion","before":…,"typed":…,"became":…}; a pick has "offers" too.
void append_pair(const TypingPair& pair, std::string* out);

}  // namespace laya::eval

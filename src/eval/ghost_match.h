// What of a ghost is what the writer goes on to type.
#pragma once

#include <cstddef>
#include <string_view>

namespace laya::eval {

/// Lengths in bytes of the text that follows. Case is ignored, as everywhere in this room.
struct GhostMatch {
  std::size_t accepted = 0;  ///< what could be taken: all of the ghost, or its first whole words
  std::size_t first = 0;     ///< its first word, if that is right
  bool whole = false;        ///< all of it is right
};

/// Compares a ghost with the text that follows the caret. Whole words only: a word that goes on
/// differently ("note" where "notes" follows) is not accepted. Chinese words have no spaces, so
/// there each character counts as a word.
GhostMatch match_ghost(std::string_view ghost, std::string_view follows);

}  // namespace laya::eval

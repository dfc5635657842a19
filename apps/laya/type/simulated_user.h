// A person who wants to type a given text and takes every offer that saves keys. Drives a
// TypeEditor, so it can only do what the interactive program can. Used by `laya replay` and by
// tests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "laya/type/type_editor.h"

namespace laya::apps {

/// What the user does at one moment.
struct Move {
  Key key;
  std::size_t characters = 0;  ///< grapheme clusters it brings
};

/// The best move towards `rest`, the text still to be typed (not empty): the offer that brings the
/// most characters if it brings at least two and ends where a word of `rest` ends, else the next
/// character. Ties: the ghost before the list, an earlier entry before a later one.
Move best_move(const TypeEditor& editor, std::string_view rest);

}  // namespace laya::apps

// GhostState: what a front end does with ghost and list between two replies. Text in, text out; no
// model, no thread, no clock.
//
// Every front end (terminal, input method, editor) reuses it, so that these rules hold
// everywhere:
//   - a reply of another revision than the latest edit's is dropped;
//   - typing the ghost's next grapheme shortens it at once; any other key clears it in the same
//     event;
//   - the space after an accepted word is owed, not typed: a letter joins (title + s), punctuation
//     attaches left, a typed space is not doubled, accepting another word pays it first;
//   - nothing of the ghost is ever committed on blur.
// The caller performs the returned Change on its text and then sends the same Change to
// Session::edit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "field/field_text.h"
#include "field/reply.h"

namespace laya::field {

/// What to insert at the caret. The view lives until the next call. Empty: nothing to do.
struct Change {
  std::string_view insert;
};

class GhostState {
 public:
  GhostState();

  /// The user's text changed in a way that is not typing at the caret (caret moved, selection,
  /// undo, paste, deletion, focus): clears ghost and owed space. Returns the new revision, to be
  /// sent with the edit.
  std::uint64_t text_changed();

  /// The user typed `text` (one key: a character, "\n", or an input method's commit). Returns what
  /// to insert (normally `text` itself; nothing is ever rewritten) and moves the revision. The
  /// ghost is shortened or cleared.
  Change typed(std::string_view text);

  /// A reply arrived. Kept only if its revision is the current one. Returns true if shown.
  bool show(const Reply& reply);

  /// Accepts the ghost's next word (to the next word boundary; one Han word's characters as
  /// offered). Nothing if no ghost is shown.
  Change accept_word();
  /// Accepts all of the ghost.
  Change accept_all();
  /// Accepts a candidate of the list: its `insert`.
  Change accept(const Candidate& candidate);
  /// Hides the ghost until the next edit.
  void dismiss();
  /// Focus lost: ghost and owed space vanish; nothing is committed.
  void blur();

  std::string_view ghost() const { return std::string_view(ghost_).substr(ghost_begin_); }
  PendingSpace pending_space() const { return pending_space_; }
  std::uint64_t revision() const { return revision_; }

 private:
  void drop_ghost();

  std::string ghost_;  // capacity reserved once
  std::size_t ghost_begin_ = 0;
  std::string insert_;  // backs the returned Change
  PendingSpace pending_space_ = PendingSpace::None;
  std::uint64_t revision_ = 0;
  std::uint64_t dismissed_revision_ = ~std::uint64_t{0};  // none
};

}  // namespace laya::field

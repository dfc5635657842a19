#include "field/ghost_state.h"

#include "base/utf8.h"
#include "text/grapheme.h"
#include "text/script.h"

namespace laya::field {
namespace {

constexpr std::size_t kReserved = 512;

char32_t first_code_point(std::string_view text) { return base::decode_utf8(text).code_point; }

char32_t last_code_point(std::string_view text) {
  return base::decode_utf8(text.substr(base::previous_code_point(text, text.size()))).code_point;
}

// Whether a space follows `text` when people go on writing: behind Latin words and numbers and
// their punctuation, not behind Chinese.
PendingSpace space_behind(std::string_view text) {
  if (text.empty()) {
    return PendingSpace::None;
  }
  const char32_t last = last_code_point(text);
  const text::Script script = text::script_of(last);
  const bool owed = script == text::Script::Latin || script == text::Script::Digit || last == '.' ||
                    last == ',' || last == '!' || last == '?' || last == ';' || last == ':';
  return owed ? PendingSpace::Owed : PendingSpace::None;
}

// Whether a space stands before `text` when it follows a Latin word: before words, not before
// punctuation or Chinese.
bool takes_space(std::string_view text) {
  const text::Script script = text::script_of(first_code_point(text));
  return script == text::Script::Latin || script == text::Script::Digit;
}

}  // namespace

GhostState::GhostState() {
  ghost_.reserve(kReserved);
  insert_.reserve(kReserved);
}

void GhostState::drop_ghost() {
  ghost_.clear();
  ghost_begin_ = 0;
}

std::uint64_t GhostState::text_changed() {
  drop_ghost();
  pending_space_ = PendingSpace::None;
  return ++revision_;
}

Change GhostState::typed(std::string_view text) {
  ++revision_;
  pending_space_ = PendingSpace::None;
  const std::string_view shown = ghost();
  // Only whole graphemes are typed through: half an emoji sequence would leave the other half grey.
  if (!text.empty() && shown.size() > text.size() && shown.starts_with(text)) {
    std::size_t boundary = 0;
    while (boundary < text.size()) {
      boundary = text::next_grapheme(shown, boundary);
    }
    if (boundary == text.size()) {
      ghost_begin_ += text.size();
      return {text};
    }
  }
  drop_ghost();
  return {text};
}

bool GhostState::show(const Reply& reply) {
  if (reply.revision != revision_ || dismissed_revision_ == revision_) {
    return false;
  }
  drop_ghost();
  if (!reply.has_ghost || reply.ghost.text.empty()) {
    return false;
  }
  if (pending_space_ == PendingSpace::Owed && takes_space(reply.ghost.text)) {
    ghost_ += ' ';
  }
  ghost_ += reply.ghost.text;
  return true;
}

Change GhostState::accept_word() {
  const std::string_view shown = ghost();
  std::size_t length = text::first_word_length(shown);
  if (length == 0) {
    return {};
  }
  while (length > 1 &&
         shown[length - 1] == ' ') {  // the space behind stays grey: it is not accepted yet
    --length;
  }
  insert_.assign(shown.substr(0, length));
  ghost_begin_ += length;
  pending_space_ = space_behind(insert_);
  ++revision_;
  return {insert_};
}

Change GhostState::accept_all() {
  if (ghost().empty()) {
    return {};
  }
  insert_.assign(ghost());
  drop_ghost();
  pending_space_ = space_behind(insert_);
  ++revision_;
  return {insert_};
}

Change GhostState::accept(const Candidate& candidate) {
  if (candidate.insert.empty()) {
    return {};
  }
  insert_.clear();
  if (pending_space_ == PendingSpace::Owed && takes_space(candidate.insert)) {
    insert_ += ' ';
  }
  insert_ += candidate.insert;
  drop_ghost();
  pending_space_ = space_behind(insert_);
  ++revision_;
  return {insert_};
}

void GhostState::dismiss() {
  drop_ghost();
  dismissed_revision_ = revision_;
}

void GhostState::blur() {
  drop_ghost();
  pending_space_ = PendingSpace::None;
}

}  // namespace laya::field

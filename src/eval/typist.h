// One text field into which line after line is typed, by those who measure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "predict/session/session.h"

namespace laya::eval {

struct Typist {
  explicit Typist(const predict::Engine& engine) : session(engine) {}

  /// An empty field; nothing of the last line counts any more.
  void new_line() {
    session.clear();
    session.set_text({.revision = ++revision, .before = {}, .after = {}});
  }
  /// `text` at the caret, in one edit.
  Status type(std::string_view text) {
    return session.edit({.revision = ++revision, .insert = text});
  }

  predict::Session session;
  std::uint64_t revision = 0;
};

}  // namespace laya::eval

// Times what sessions cost beside the one that is typed in: memory of open ones, coming back to a
// text that another session has pushed off the workbench, and reading a text from its beginning.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "laya/bench/bench_keys.h"
#include "predict/engine/engine.h"

namespace laya::apps {

struct SessionTimes {
  std::size_t open = 0;        ///< sessions, each with a text and a list
  double bytes_each = 0;       ///< private memory that one of them takes
  std::size_t text_bytes = 0;  ///< left of the caret, in what follows
  Quantiles cold;              ///< set_text() to the list: nothing is known of the text
  Quantiles back;              ///< edit() to the list after another session had the bench
};

/// `text` must have some hundred bytes. Internal when a session that came back, or was read anew,
/// answers another list than one that had the bench to itself.
Result<SessionTimes> time_sessions(const predict::Engine& engine, std::string_view text);

}  // namespace laya::apps

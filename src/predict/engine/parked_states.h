// ParkedStates: where the network stood in texts that no workbench holds at the moment, so that a
// session which comes back goes on at once and does not read its text again.
//
// The least recently parked go when the memory setting is exceeded; their sessions read the last
// kContextTokens tokens of their text again. Not thread-safe: the pool's lock is held.
#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include "predict/engine/session_id.h"
#include "predict/instant/network_source.h"

namespace laya::predict {

class ParkedStates {
 public:
  explicit ParkedStates(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Keeps `place` for `session`; in place of what was parked for it before.
  void park(SessionId session, NetworkPlace place);
  /// Hands out what was parked, and forgets it.
  std::optional<NetworkPlace> take(SessionId session);
  void forget(SessionId session);

  std::size_t size() const { return entries_.size(); }
  std::size_t size_bytes() const { return bytes_; }

 private:
  struct Entry {
    SessionId session;
    NetworkPlace place;
  };
  using Entries = std::list<Entry>;

  Entries::iterator find(SessionId session);
  void drop(Entries::iterator entry);

  std::size_t limit_bytes_;
  std::size_t bytes_ = 0;
  Entries entries_;  // most recently parked first
};

}  // namespace laya::predict

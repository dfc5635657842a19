#include "predict/engine/parked_states.h"

#include <algorithm>
#include <utility>

namespace laya::predict {

void ParkedStates::park(SessionId session, NetworkPlace place) {
  forget(session);
  bytes_ += place.size_bytes();
  entries_.push_front({session, std::move(place)});
  while (bytes_ > limit_bytes_) {
    drop(std::prev(entries_.end()));
  }
}

std::optional<NetworkPlace> ParkedStates::take(SessionId session) {
  const auto found = find(session);
  if (found == entries_.end()) {
    return std::nullopt;
  }
  std::optional<NetworkPlace> place(std::move(found->place));
  bytes_ -= place->size_bytes();
  entries_.erase(found);
  return place;
}

void ParkedStates::forget(SessionId session) {
  if (const auto found = find(session); found != entries_.end()) {
    drop(found);
  }
}

ParkedStates::Entries::iterator ParkedStates::find(SessionId session) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [session](const Entry& entry) { return entry.session == session; });
}

// Overwritten, not only freed: the tokens spell what was typed.
void ParkedStates::drop(Entries::iterator entry) {
  bytes_ -= entry->place.size_bytes();
  entry->place.wipe();
  entries_.erase(entry);
}

}  // namespace laya::predict

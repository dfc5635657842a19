#include "predict/engine/workbench_pool.h"

#include <algorithm>
#include <utility>

namespace laya::predict {

WorkbenchPool::WorkbenchPool(const Engine& engine, std::size_t most, std::size_t states_bytes)
    : engine_(&engine), most_(std::max<std::size_t>(most, 1)), parked_(states_bytes) {
  slots_.reserve(most_);
}
WorkbenchPool::~WorkbenchPool() = default;

WorkbenchPool::Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), slot_(other.slot_), bench_(other.bench_) {}

WorkbenchPool::Lease::~Lease() {
  if (pool_ != nullptr) {
    pool_->give_back(slot_);
  }
}

SessionId WorkbenchPool::new_session() {
  const std::lock_guard lock(mutex_);
  return ++last_session_;
}

// The session's own, else a free one, else a new one, else the one that was used longest ago;
// nullptr: wait.
WorkbenchPool::Slot* WorkbenchPool::slot_for(SessionId session) {
  Slot* best = nullptr;
  for (Slot& slot : slots_) {
    if (slot.session == session) {
      return slot.leased ? nullptr : &slot;
    }
    const bool better =
        best == nullptr || (slot.session == kNoSession) > (best->session == kNoSession) ||
        ((slot.session == kNoSession) == (best->session == kNoSession) && slot.used < best->used);
    if (!slot.leased && better) {
      best = &slot;
    }
  }
  if (best != nullptr && best->session == kNoSession) {
    return best;
  }
  if (slots_.size() < most_) {
    slots_.emplace_back();
    slots_.back().bench = std::make_unique<Workbench>(*engine_);
    return &slots_.back();
  }
  return best;
}

WorkbenchPool::Lease WorkbenchPool::lease(SessionId session) {
  std::unique_lock lock(mutex_);
  Slot* slot = nullptr;
  free_.wait(lock, [&] { return (slot = slot_for(session)) != nullptr; });
  if (slot->session != session) {
    if (slot->session != kNoSession) {
      if (auto place = slot->bench->place()) {
        parked_.park(slot->session, std::move(*place));
      }
    }
    const auto place = parked_.take(session);
    slot->bench->begin(place ? &*place : nullptr);
    slot->session = session;
  }
  slot->leased = true;
  slot->used = ++uses_;
  return Lease(*this, static_cast<std::size_t>(slot - slots_.data()), *slot->bench);
}

void WorkbenchPool::give_back(std::size_t slot) {
  {
    const std::lock_guard lock(mutex_);
    slots_[slot].leased = false;
  }
  free_.notify_all();
}

void WorkbenchPool::forget(SessionId session) {
  {
    const std::lock_guard lock(mutex_);
    for (Slot& slot : slots_) {
      if (slot.session == session) {
        slot.bench->clear();
        slot.session = kNoSession;
      }
    }
    parked_.forget(session);
  }
  free_.notify_all();
}

std::size_t WorkbenchPool::benches() const {
  const std::lock_guard lock(mutex_);
  return slots_.size();
}

std::size_t WorkbenchPool::parked() const {
  const std::lock_guard lock(mutex_);
  return parked_.size();
}

}  // namespace laya::predict

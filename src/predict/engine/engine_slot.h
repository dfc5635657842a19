// EngineSlot: the engine that is in use now. A program keeps one; its sessions look into it at each
// edit, and go on with the new engine from there, text and all.
//
//   EngineSlot slot(*Engine::open(paths, options));
//   Session session(slot);
//   slot.swap(*Engine::open(new_paths, options));    // any thread; no session waits
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace laya::predict {

class Engine;

/// Thread-safe. An engine lives as long as a session uses it, whatever the slot holds.
class EngineSlot {
 public:
  explicit EngineSlot(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)) {}
  EngineSlot(const EngineSlot&) = delete;
  EngineSlot& operator=(const EngineSlot&) = delete;

  std::shared_ptr<const Engine> current() const {
    const std::lock_guard lock(mutex_);
    return engine_;
  }
  /// The old engine is given up outside the lock: nobody waits for its end.
  void swap(std::shared_ptr<const Engine> next) {
    {
      const std::lock_guard lock(mutex_);
      engine_.swap(next);
      version_.fetch_add(1, std::memory_order_release);
    }
  }
  /// Changes with every swap(): cheap to ask at each key.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Engine> engine_;
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace laya::predict

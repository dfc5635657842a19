// "Stop, the answer is no longer wanted": set by the thread that knows (the next key arrived),
// looked at by the one that works.
#pragma once

#include <atomic>

namespace laya::base {

/// Long work looks at it often enough to return ErrorCode::Cancelled within about one layer of a
/// network. Any thread may call any member; it must outlive the work it was given to.
class CancelFlag {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  /// Makes it usable for the next piece of work.
  void reset() { cancelled_.store(false, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace laya::base

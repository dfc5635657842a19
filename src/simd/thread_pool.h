// A pool for regions of a few microseconds: one helper thread beside the caller, spinning while
// there is work and for a short while after it, parked on a futex otherwise (no timer, no wake-up
// while idle). Not a general executor: one region at a time, from one calling thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace laya::simd {

class ThreadPool {
 public:
  /// `threads` in all, the caller included, 1..16; 1 starts no thread and runs everything in place.
  /// If the system refuses a thread the pool is smaller: threads() tells.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t threads() const { return workers_.size() + 1; }

  /// Calls fn(i) once for every i in [0, n), n < 2^32, on the caller and the helpers, and returns
  /// when all are done. Each takes runs of indices, large ones first, as it gets free, so a helper
  /// that is late costs nothing but its help. Allocates nothing. `fn` must not throw and must not
  /// call run() of the same pool.
  template <typename Function>
  void run(std::size_t n, Function&& fn) {
    using F = std::remove_reference_t<Function>;
    run_task(
        n, [](void* context, std::size_t i) { (*static_cast<F*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&fn)));
  }

  /// Unparks the helpers ahead of work that is about to come (a key arrived): a parked thread needs
  /// tens of microseconds to appear. They park again by themselves. From the thread that calls
  /// run().
  void wake();

 private:
  using Task = void (*)(void* context, std::size_t i);

  void run_task(std::size_t n, Task task, void* context);
  void work();
  std::size_t take_share();

  // The region's number of indices (high half) and the next free one (low half) in one word:
  // whoever advances it owns indices of the region that is current at that instant, and the region
  // cannot end before they are done. So task_ and context_ read after that belong to it, however
  // late the helper was. One cache line, since a line takes 100 to 200 ns from core to core.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<Task> task_{nullptr};
  std::atomic<void*> context_{nullptr};
  alignas(64) std::atomic<std::uint64_t> helped_{
      0};  // indices of this region that helpers have finished
  alignas(64) std::atomic<std::uint32_t> calls_{
      0};  // regions and wake()s so far; a parked helper waits for it to change
  std::atomic<bool> stopping_{false};
  std::size_t sharers_;    // threads asked for; never changes
  int avoided_core_ = -1;  // the caller's, as last seen; helpers are kept off it
  std::vector<std::thread> workers_;
};

}  // namespace laya::simd

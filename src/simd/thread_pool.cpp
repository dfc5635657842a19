#include "simd/thread_pool.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <system_error>

#include "simd/impl/cpu_relax.h"
#include "simd/impl/thread_placement.h"

namespace laya::simd {
namespace {

using Clock = std::chrono::steady_clock;

// How long a helper stays awake after work: longer than the gaps between the regions of one key
// (tens of microseconds), far shorter than the gap between two keys.
constexpr std::chrono::microseconds kSpinAfterWork{200};

// Tries between two looks at the clock, about 2 us of pauses.
constexpr int kTriesPerLook = 64;

// The caller gives its core away after this many tries: shares end within microseconds of each
// other, so a helper that still owes one is off its core, and it may be waiting for ours.
constexpr int kTriesBeforeYield = 4096;

// What the caller keeps for itself before it tells the helpers: so that the first runs are large
// and taken without a race, and a quarter of the work is left to even out who was slower.
std::uint64_t first_share(std::uint64_t n, std::size_t sharers) { return 3 * n / (4 * sharers); }

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) : sharers_(threads) {
  assert(threads >= 1 && threads <= 16);
  workers_.reserve(threads);
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      break;  // no thread to be had: a smaller pool gives the same answers
    }
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  wake();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::wake() {
  // A system call only when the caller has moved to another core since the last time.
  if (const int core = current_core(); core != avoided_core_) {
    avoided_core_ = core;
    for (std::thread& worker : workers_) keep_off_core(worker, core);
  }
  calls_.fetch_add(1);
  calls_.notify_all();  // no system call while nobody is parked
}

// Takes some indices of the current region and does them; returns how many, 0 when none is left.
std::size_t ThreadPool::take_share() {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  for (;;) {
    const std::uint64_t n = ticket >> 32;
    const std::uint64_t next = ticket & 0xFFFFFFFFu;
    if (next >= n) return 0;
    const std::uint64_t left = n - next;
    const std::uint64_t wanted = left > n / 4 ? first_share(n, sharers_) : left / sharers_;
    const std::uint64_t count = std::clamp<std::uint64_t>(wanted, 1, left);
    if (ticket_.compare_exchange_weak(ticket, ticket + count, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
      const Task task = task_.load(std::memory_order_relaxed);
      void* const context = context_.load(std::memory_order_relaxed);
      for (std::uint64_t i = next; i < next + count; ++i) task(context, i);
      return count;
    }
  }
}

void ThreadPool::run_task(std::size_t n, Task task, void* context) {
  assert(n <= 0xFFFFFFFFu);
  if (workers_.empty() || n < 2) {
    for (std::size_t i = 0; i < n; ++i) task(context, i);
    return;
  }
  const std::uint64_t mine = first_share(n, sharers_);
  task_.store(task, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  helped_.store(0, std::memory_order_relaxed);
  ticket_.store((static_cast<std::uint64_t>(n) << 32) + mine, std::memory_order_release);
  wake();
  for (std::uint64_t i = 0; i < mine; ++i) task(context, i);
  std::uint64_t done = mine;
  while (const std::size_t count = take_share()) done += count;
  for (int tries = 0; helped_.load(std::memory_order_acquire) != n - done; ++tries) {
    if (tries < kTriesBeforeYield) {
      cpu_relax();
    } else {
      std::this_thread::yield();
    }
  }
}

void ThreadPool::work() {
  while (!stopping_.load()) {
    const std::uint32_t seen = calls_.load();
    auto deadline = Clock::now() + kSpinAfterWork;
    for (bool spinning = true; spinning;) {
      for (int i = 0; i < kTriesPerLook; ++i) {
        std::size_t helped = 0;
        while (const std::size_t count = take_share()) helped += count;
        if (helped != 0) {
          helped_.fetch_add(helped, std::memory_order_release);
          deadline = Clock::now() + kSpinAfterWork;
          break;
        }
        cpu_relax();
      }
      spinning = !stopping_.load(std::memory_order_relaxed) && Clock::now() < deadline;
    }
    // Parks only if nothing was asked for since `seen`; otherwise one more round of spinning.
    calls_.wait(seen);
  }
}

}  // namespace laya::simd

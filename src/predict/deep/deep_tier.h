// DeepTier: the thread on which the decoder works, so that no key ever waits for it.
//
// One per engine, shared by its sessions; each session holds a DeepLine, its end of the queue. A
// session submits tasks; the worker runs one at a time, in order. Between submit() and the moment
// that the line is idle again, whatever the task touches belongs to the worker; the session takes
// it back with wait() (in time or not) or cancel() (within the time of one layer). The hand-over
// through the mutex is the only synchronisation, so tasks need none of their own.
// The thread starts with the first task and sleeps without a timer when there is nothing to do.
//
//   DeepTier tier;
//   DeepLine line(tier);
//   line.submit(read_text);                         // a DeepTask; must outlive the line's idleness
//   if (line.wait(deadline_ns)) { … its result … }
//   line.cancel();                                  // the next key
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/cancel_flag.h"
#include "base/unique_fd.h"

namespace laya::predict {

/// Something for the worker to do. Owned by whoever submits it.
class DeepTask {
 public:
  virtual ~DeepTask() = default;
  /// On the worker's thread. Returns soon after `cancel` is set: looks at it at least once a layer.
  virtual void run(const base::CancelFlag& cancel) = 0;
};

class DeepLine;

class DeepTier {
 public:
  DeepTier() = default;
  DeepTier(const DeepTier&) = delete;
  DeepTier& operator=(const DeepTier&) = delete;
  /// All lines must be gone.
  ~DeepTier();

  /// Times that the worker woke up since the start (tests: idle means none).
  std::uint64_t wake_ups() const;

 private:
  friend class DeepLine;
  void work();

  mutable std::mutex mutex_;
  std::condition_variable work_;      // something was queued, or stop
  std::condition_variable finished_;  // a task ended
  DeepLine* first_ = nullptr;         // queue of lines that have a task
  DeepLine* last_ = nullptr;
  std::uint64_t wake_ups_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

/// A session's end of the queue. Used by one thread at a time; must not outlive the tier.
class DeepLine {
 public:
  static constexpr std::size_t kQueued = 4;  ///< tasks that may wait at once

  explicit DeepLine(DeepTier& tier) : tier_(&tier) {}
  DeepLine(const DeepLine&) = delete;
  DeepLine& operator=(const DeepLine&) = delete;
  ~DeepLine() { cancel(); }

  /// Queues `task` behind this line's others. False if kQueued are waiting (nothing is queued).
  /// Does not allocate after the tier's first task.
  bool submit(DeepTask& task);

  /// True once every task that was submitted has ended; false if that is not so at `deadline_ns`
  /// (base::monotonic_ns). A deadline in the past only asks.
  bool wait(std::int64_t deadline_ns);

  /// The same for the first `count` of the tasks that were submitted since the last cancel() only.
  bool wait_finished(std::size_t count, std::int64_t deadline_ns);

  /// Takes queued tasks back, stops the running one and waits until it has let go.
  void cancel();

  /// A descriptor that is readable after one of this line's tasks has ended; cancel() and
  /// acknowledge() make it unreadable. For poll() in a front end's loop; a pipe, as that is what
  /// every system has. -1 if there is none to be had. Made at the first call.
  int fd();
  void acknowledge();

 private:
  friend class DeepTier;
  bool idle() const { return count_ == 0 && !running_; }
  void signal() const;

  DeepTier* tier_;
  base::CancelFlag cancel_;
  std::array<DeepTask*, kQueued> tasks_{};  // ring: waiting
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  std::size_t finished_ = 0;  // since the last cancel()
  bool running_ = false;
  bool in_queue_ = false;
  DeepLine* next_ = nullptr;
  base::UniqueFd event_out_;
  base::UniqueFd event_in_;
};

}  // namespace laya::predict

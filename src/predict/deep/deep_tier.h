// DeepTier: the thread on which the decoder works, so that no key ever waits for it.
//
// One per engine, shared by its sessions; each session holds a DeepLine, its end of the queue. A
// line holds one piece of work at most. Work is *moved* into the line and moved out again: while
// it is there, nobody else has a pointer to it, so who may touch what is the type system's. The
// hand-over through the mutex is the only synchronisation; work needs none of its own.
// The thread starts with the first work and sleeps without a timer when there is nothing to do.
//
//   DeepTier tier;
//   DeepLine line(tier);
//   line.submit(std::move(turn));                   // a DeepWork; the session's pointer is empty
//   if (line.wait(deadline_ns)) { turn = line.take(); … its result … }
//   turn = line.take();                             // the next key: back within a layer's time
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "base/cancel_flag.h"
#include "base/unique_fd.h"

namespace laya::predict {

/// Something for the worker to do, with all that it needs and all that comes of it.
class DeepWork {
 public:
  virtual ~DeepWork() = default;
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
  std::condition_variable finished_;  // a piece of work ended
  DeepLine* first_ = nullptr;         // queue of lines whose work waits
  DeepLine* last_ = nullptr;
  std::uint64_t wake_ups_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

/// A session's end of the queue. Used by one thread at a time; must not outlive the tier.
class DeepLine {
 public:
  explicit DeepLine(DeepTier& tier) : tier_(&tier) {}
  DeepLine(const DeepLine&) = delete;
  DeepLine& operator=(const DeepLine&) = delete;
  ~DeepLine() { take(); }

  /// Hands `work` over; the line must hold none (wait or take first). Does not allocate after the
  /// tier's first work.
  void submit(std::unique_ptr<DeepWork> work);

  /// True once what was submitted has ended (or there is nothing); false if that is not so at
  /// `deadline_ns` (base::monotonic_ns). A deadline in the past only asks.
  bool wait(std::int64_t deadline_ns);

  /// Takes the work back: out of the queue, or as soon as it has let go, or done. nullptr where the
  /// line holds none.
  std::unique_ptr<DeepWork> take();

  /// A descriptor that is readable after this line's work has ended; take() and acknowledge() make
  /// it unreadable. For poll() in a front end's loop; a pipe, as that is what every system has. -1
  /// if there is none to be had. Made at the first call.
  int fd();
  void acknowledge();

 private:
  friend class DeepTier;
  enum class Stage : std::uint8_t { Empty, Queued, Running, Done };
  void leave_queue();
  void signal() const;

  DeepTier* tier_;
  base::CancelFlag cancel_;
  std::unique_ptr<DeepWork> work_;
  Stage stage_ = Stage::Empty;
  DeepLine* next_ = nullptr;
  base::UniqueFd event_out_;
  base::UniqueFd event_in_;
};

}  // namespace laya::predict

// WorkbenchPool: an engine's workbenches, leased for one decision at a time.
//
// At most `most` are made, each when it is first needed; whoever comes then waits for the length of
// a decision. A session gets the bench that has its text, if it is still there: then nothing is
// computed twice. A session's own bench is never leased twice at once: its text is read in one place.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "predict/engine/parked_states.h"
#include "predict/engine/session_id.h"
#include "predict/engine/workbench.h"

namespace laya::predict {

class WorkbenchPool {
 public:
  /// `engine` must outlive the pool. `states_bytes`: memory for parked states.
  WorkbenchPool(const Engine& engine, std::size_t most, std::size_t states_bytes);
  ~WorkbenchPool();

  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Workbench& operator*() const { return *bench_; }
    Workbench* operator->() const { return bench_; }

   private:
    friend class WorkbenchPool;
    Lease(WorkbenchPool& pool, std::size_t slot, Workbench& bench)
        : pool_(&pool), slot_(slot), bench_(&bench) {}
    WorkbenchPool* pool_;
    std::size_t slot_;
    Workbench* bench_;
  };

  /// A number for a new session.
  SessionId new_session();
  /// A bench for `session`, which has to hold no other lease. Waits while all are leased.
  Lease lease(SessionId session);
  /// Wipes all that benches and parked states hold of the session's text. It holds no lease.
  void forget(SessionId session);

  /// For reports and tests: benches made so far, states parked.
  std::size_t benches() const;
  std::size_t parked() const;

 private:
  struct Slot {
    std::unique_ptr<Workbench> bench;
    SessionId session = kNoSession;
    std::uint64_t used = 0;
    bool leased = false;
  };
  Slot* slot_for(SessionId session);
  void give_back(std::size_t slot);

  const Engine* engine_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable free_;
  std::vector<Slot> slots_;  // capacity: most_
  ParkedStates parked_;
  std::uint64_t uses_ = 0;
  SessionId last_session_ = kNoSession;
};

}  // namespace laya::predict

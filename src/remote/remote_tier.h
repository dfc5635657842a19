// RemoteTier: a completion server on a thread of its own, so that no key waits for a network. The
// latest question wins: a new one takes back the one before.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "remote/completion_client.h"

namespace laya::remote {

/// Used by one thread, beside its own. The thread sleeps while nothing is asked.
class RemoteTier {
 public:
  /// Questions go out once `pause` has passed without another one.
  explicit RemoteTier(CompletionClient client,
                      std::chrono::milliseconds pause = std::chrono::milliseconds(0));
  RemoteTier(const RemoteTier&) = delete;
  RemoteTier& operator=(const RemoteTier&) = delete;
  /// Ends a request that is on its way.
  ~RemoteTier();

  /// Asks how `prompt` goes on; an older question is forgotten. Returns at once.
  void ask(std::uint64_t revision, std::string_view prompt);
  /// The text changed, or the field is private now: nothing that was asked is wanted any more.
  void cancel();
  /// The answer to the question of `revision`; false if there is none within `wait_ms` (0: only
  /// look), it failed, or another one was asked since. Each answer is given once.
  bool take(std::uint64_t revision, std::int64_t wait_ms, std::vector<std::string>* continuations);
  /// Why the last question that failed did; "" if none has. Holds no text of the user's.
  std::string last_error();

  /// A descriptor (a pipe's, non-blocking) that is readable once an answer is there or a question
  /// has failed; take() and cancel() make it unreadable. For poll() in a front end's loop. -1 if
  /// there is none to be had.
  int fd() const { return event_out_.get(); }

 private:
  void work();
  bool stands_still(std::unique_lock<std::mutex>& lock, std::uint64_t question);
  void signal() const;
  void acknowledge() const;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable answered_;
  CompletionClient client_;
  const std::chrono::milliseconds pause_;
  base::UniqueFd event_out_;
  base::UniqueFd event_in_;
  base::CancelFlag cancel_;
  std::string prompt_;
  std::string error_;
  std::vector<std::string> answer_;
  std::uint64_t asked_ = 0;  // revision of the question; counted_ tells it from older ones
  std::uint64_t counted_ = 0;
  std::uint64_t answered_count_ = 0;
  bool pending_ = false;  // a question that the thread has not taken up
  bool ready_ = false;    // answer_ is for the question counted_
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace laya::remote

#include "remote/remote_tier.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace laya::remote {

RemoteTier::RemoteTier(CompletionClient client, std::chrono::milliseconds pause)
    : client_(std::move(client)), pause_(pause) {
  if (std::array<int, 2> ends{-1, -1}; ::pipe(ends.data()) == 0) {
    event_out_.reset(ends[0]);
    event_in_.reset(ends[1]);
    for (const int end : ends) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
  }
  thread_ = std::thread([this] { work(); });
}

RemoteTier::~RemoteTier() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    cancel_.cancel();
  }
  wake_.notify_all();
  thread_.join();
}

void RemoteTier::ask(std::uint64_t revision, std::string_view prompt) {
  {
    const std::lock_guard lock(mutex_);
    ++counted_;
    asked_ = revision;
    prompt_.assign(prompt);
    pending_ = true;
    ready_ = false;
    cancel_.cancel();  // the request before, if one is on its way
  }
  wake_.notify_one();
}

void RemoteTier::cancel() {
  {
    const std::lock_guard lock(mutex_);
    ++counted_;
    prompt_.clear();
    answer_.clear();
    pending_ = ready_ = false;
    cancel_.cancel();
    acknowledge();
  }
  wake_.notify_one();  // a question that waits for its pause
  answered_.notify_all();
}

bool RemoteTier::take(std::uint64_t revision, std::int64_t wait_ms,
                      std::vector<std::string>* continuations) {
  std::unique_lock lock(mutex_);
  const std::uint64_t question = counted_;
  answered_.wait_for(lock, std::chrono::milliseconds(wait_ms),
                     [&] { return counted_ != question || answered_count_ == counted_; });
  acknowledge();
  if (!ready_ || counted_ != question || asked_ != revision) {
    return false;
  }
  ready_ = false;
  *continuations = std::move(answer_);
  answer_.clear();
  return true;
}

std::string RemoteTier::last_error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

void RemoteTier::signal() const {
  if (event_in_.valid()) {
    const char one = 1;
    [[maybe_unused]] const ssize_t bytes = ::write(event_in_.get(), &one, 1);
  }
}

void RemoteTier::acknowledge() const {
  std::array<char, 64> ignored;
  while (event_out_.valid() && ::read(event_out_.get(), ignored.data(), ignored.size()) ==
                                   static_cast<ssize_t>(ignored.size())) {
  }
}

// Waits for the pause; false if another question came, or none is wanted any more.
bool RemoteTier::stands_still(std::unique_lock<std::mutex>& lock, std::uint64_t question) {
  return !wake_.wait_for(lock, pause_, [&] { return stop_ || counted_ != question; });
}

void RemoteTier::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return pending_ || stop_; });
    if (stop_) {
      return;
    }
    const std::uint64_t question = counted_;
    if (!stands_still(lock, question)) {
      continue;
    }
    pending_ = false;
    cancel_.reset();
    const std::string prompt = std::exchange(prompt_, {});
    lock.unlock();
    Result<std::vector<std::string>> answer = client_.complete(prompt, &cancel_);
    lock.lock();
    if (question == counted_) {
      answered_count_ = question;
      if (answer) {
        answer_ = std::move(*answer);
        ready_ = true;
      } else {
        error_ = answer.error().message;
      }
      answered_.notify_all();
      signal();
    }
  }
}

}  // namespace laya::remote

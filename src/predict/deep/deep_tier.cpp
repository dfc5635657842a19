#include "predict/deep/deep_tier.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

namespace laya::predict {

DeepTier::~DeepTier() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::uint64_t DeepTier::wake_ups() const {
  const std::lock_guard lock(mutex_);
  return wake_ups_;
}

void DeepTier::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    while (first_ == nullptr && !stop_) {
      work_.wait(lock);
      ++wake_ups_;
    }
    if (stop_) {
      return;
    }
    DeepLine* const line = first_;
    first_ = line->next_;
    if (first_ == nullptr) {
      last_ = nullptr;
    }
    line->next_ = nullptr;
    line->in_queue_ = false;
    if (line->count_ == 0) {
      continue;  // taken back meanwhile
    }
    DeepTask* const task = line->tasks_[line->head_];
    line->head_ = (line->head_ + 1) % DeepLine::kQueued;
    --line->count_;
    line->running_ = true;
    if (line->count_ > 0) {  // behind the other lines
      line->in_queue_ = true;
      (last_ == nullptr ? first_ : last_->next_) = line;
      last_ = line;
    }
    lock.unlock();
    task->run(line->cancel_);
    lock.lock();
    line->running_ = false;
    ++line->finished_;
    line->signal();
    finished_.notify_all();
  }
}

bool DeepLine::submit(DeepTask& task) {
  {
    const std::lock_guard lock(tier_->mutex_);
    if (count_ == kQueued) {
      return false;
    }
    tasks_[(head_ + count_) % kQueued] = &task;
    ++count_;
    if (!in_queue_) {
      in_queue_ = true;
      (tier_->last_ == nullptr ? tier_->first_ : tier_->last_->next_) = this;
      tier_->last_ = this;
    }
    if (!tier_->thread_.joinable()) {
      tier_->thread_ = std::thread([tier = tier_] { tier->work(); });
    }
  }
  tier_->work_.notify_one();
  return true;
}

bool DeepLine::wait(std::int64_t deadline_ns) {
  const auto deadline =
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns));
  std::unique_lock lock(tier_->mutex_);
  return tier_->finished_.wait_until(lock, deadline, [this] { return idle(); });
}

bool DeepLine::wait_finished(std::size_t count, std::int64_t deadline_ns) {
  const auto deadline =
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns));
  std::unique_lock lock(tier_->mutex_);
  return tier_->finished_.wait_until(lock, deadline, [this, count] { return finished_ >= count; });
}

void DeepLine::cancel() {
  std::unique_lock lock(tier_->mutex_);
  if (!idle()) {
    cancel_.cancel();
    count_ = 0;
    if (in_queue_) {
      DeepLine** link = &tier_->first_;
      DeepLine* before = nullptr;
      while (*link != this) {
        before = *link;
        link = &(*link)->next_;
      }
      *link = next_;
      if (tier_->last_ == this) {
        tier_->last_ = before;
      }
      next_ = nullptr;
      in_queue_ = false;
    }
    tier_->finished_.wait(lock, [this] { return idle(); });
    cancel_.reset();
  }
  finished_ = 0;
  lock.unlock();
  acknowledge();
}

int DeepLine::fd() {
  const std::lock_guard lock(tier_->mutex_);
  std::array<int, 2> ends{-1, -1};
  if (!event_out_.valid() && ::pipe(ends.data()) == 0) {
    event_out_.reset(ends[0]);
    event_in_.reset(ends[1]);
    for (const int end : ends) {
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
      ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
  }
  return event_out_.get();
}

void DeepLine::acknowledge() {
  std::array<char, 64> ignored;
  while (event_out_.valid() && ::read(event_out_.get(), ignored.data(), ignored.size()) ==
                                   static_cast<ssize_t>(ignored.size())) {
  }
}

void DeepLine::signal() const {
  if (event_in_.valid()) {
    const char one = 1;
    [[maybe_unused]] const ssize_t bytes = ::write(event_in_.get(), &one, 1);
  }
}

}  // namespace laya::predict

#include "predict/deep/deep_tier.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

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
    line->leave_queue();
    line->stage_ = DeepLine::Stage::Running;
    DeepWork& work = *line->work_;
    lock.unlock();
    work.run(line->cancel_);
    lock.lock();
    line->stage_ = DeepLine::Stage::Done;
    line->signal();
    finished_.notify_all();
  }
}

void DeepLine::leave_queue() {
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
}

void DeepLine::submit(std::unique_ptr<DeepWork> work) {
  {
    const std::lock_guard lock(tier_->mutex_);
    work_ = std::move(work);
    stage_ = Stage::Queued;
    (tier_->last_ == nullptr ? tier_->first_ : tier_->last_->next_) = this;
    tier_->last_ = this;
    if (!tier_->thread_.joinable()) {
      tier_->thread_ = std::thread([tier = tier_] { tier->work(); });
    }
  }
  tier_->work_.notify_one();
}

bool DeepLine::wait(std::int64_t deadline_ns) {
  const auto deadline =
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns));
  std::unique_lock lock(tier_->mutex_);
  return tier_->finished_.wait_until(
      lock, deadline, [this] { return stage_ == Stage::Empty || stage_ == Stage::Done; });
}

std::unique_ptr<DeepWork> DeepLine::take() {
  std::unique_ptr<DeepWork> work;
  {
    std::unique_lock lock(tier_->mutex_);
    if (stage_ == Stage::Queued) {
      leave_queue();
    } else if (stage_ == Stage::Running) {
      cancel_.cancel();
      tier_->finished_.wait(lock, [this] { return stage_ == Stage::Done; });
      cancel_.reset();
    }
    stage_ = Stage::Empty;
    work = std::move(work_);
  }
  acknowledge();
  return work;
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

#include "remote/remote_tier.h"

#include <chrono>
#include <utility>

namespace laya::remote {

RemoteTier::RemoteTier(CompletionClient client) : client_(std::move(client)) {
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
  }
  answered_.notify_all();
}

bool RemoteTier::take(std::uint64_t revision, std::int64_t wait_ms,
                      std::vector<std::string>* continuations) {
  std::unique_lock lock(mutex_);
  const std::uint64_t question = counted_;
  answered_.wait_for(lock, std::chrono::milliseconds(wait_ms),
                     [&] { return counted_ != question || answered_count_ == counted_; });
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

void RemoteTier::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return pending_ || stop_; });
    if (stop_) {
      return;
    }
    pending_ = false;
    cancel_.reset();
    const std::uint64_t question = counted_;
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
    }
  }
}

}  // namespace laya::remote

#include "predict/source/typing_memory.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/fnv1a.h"

namespace laya::predict {
namespace {

constexpr float kStep = 0.125F;

std::uint64_t hash_of(std::string_view key) {
  return base::fnv1a_64(std::as_bytes(std::span(key)));
}

void decay(float* share, bool happened) { *share += kStep * ((happened ? 1.0F : 0.0F) - *share); }

}  // namespace

void TypingMemory::key(std::uint64_t at_ms, std::size_t erased, std::size_t inserted) {
  decay(&deletions_, erased > 0 && inserted == 0);
  decay(&jumps_, false);
  if (at_ms == 0 || last_ms_ == 0 || at_ms < last_ms_) {
    interval_ = mean_interval_;
  } else {
    const float seconds = static_cast<float>(at_ms - last_ms_) / 1000;
    interval_ = std::clamp(std::log(std::max(seconds, 1e-3F)), -4.0F, 2.0F);
    mean_interval_ += kStep * (interval_ - mean_interval_);
  }
  last_ms_ = at_ms;
}

void TypingMemory::jump() { decay(&jumps_, true); }

void TypingMemory::accepted(std::string_view key) {
  decay(&accepts_, true);
  words_[next_] = hash_of(key);
  next_ = (next_ + 1) % kKept;
}

void TypingMemory::typed_on() { decay(&accepts_, false); }

std::size_t TypingMemory::times_accepted(std::string_view key) const {
  return static_cast<std::size_t>(std::count(words_.begin(), words_.end(), hash_of(key)));
}

}  // namespace laya::predict

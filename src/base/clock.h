// The one clock that durations are measured with.
#pragma once

#include <chrono>
#include <cstdint>

namespace laya::base {

/// Nanoseconds of a clock that never goes back; only differences mean anything.
inline std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace laya::base

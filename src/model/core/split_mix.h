// SplitMix64 (Steele, Lea, Flood 2014): the same numbers everywhere, unlike the distributions of
// <random>.
#pragma once

#include <cstdint>

namespace laya::model {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  /// Uniform in [-1, 1).
  float next() { return static_cast<float>(static_cast<double>(bits() >> 11) * 0x1.0p-52 - 1.0); }

 private:
  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace laya::model

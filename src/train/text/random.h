// The random numbers of training: small, the same on every machine, and a state of one word, so
// that a checkpoint can hold it.
#pragma once

#include <cstdint>

namespace laya::train {

/// SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"). std::
/// distributions differ between libraries, so the few that are needed stand here.
class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    return mix(state_);
  }

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

  /// Uniform in [0, bound); 0 < `bound` < 2^32. Lemire's multiply-shift: its bias is below bound /
  /// 2^32, of no account here.
  std::uint64_t below(std::uint64_t bound) { return ((next() >> 32U) * bound) >> 32U; }

  std::uint64_t state() const { return state_; }
  void set_state(std::uint64_t state) { state_ = state; }

  /// A seed for a stream named by up to three numbers (seed, source, epoch).
  static std::uint64_t derive(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return mix(mix(mix(a + 0x9E3779B97F4A7C15U) ^ (b * 0xD1342543DE82EF95U)) ^
               (c * 0xA0761D6478BD642FU));
  }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace laya::train

// Numbers for the tests of this room: deterministic, from a small generator, the same on every
// platform.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "simd/dispatch.h"
#include "simd/packing.h"

namespace laya::simd {

/// SplitMix64 (Steele, Lea and Flood 2014).
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [-1, 1).
  float unit() { return static_cast<float>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }

  /// Roughly normal, deviation `scale`.
  std::vector<float> normal(std::size_t n, float scale) {
    std::vector<float> values(n);
    for (float& v : values) v = (unit() + unit() + unit()) * scale;
    return values;
  }
  std::vector<float> uniform(std::size_t n, float scale) {
    std::vector<float> values(n);
    for (float& v : values) v = unit() * scale;
    return values;
  }

 private:
  std::uint64_t state_;
};

/// Bytes that begin at a 64-byte boundary, as packed matrices must.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size) : memory_(size + 64), size_(size) {}
  std::span<std::byte> span() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    return {memory_.data() + (64 - at % 64) % 64, size_};
  }

 private:
  std::vector<std::byte> memory_;
  std::size_t size_;
};

/// A packed random matrix with the memory it lives in.
struct TestMatrix {
  TestMatrix(const PackedShape& shape, std::uint64_t seed) : bytes(packed_size_bytes(shape)) {
    Numbers numbers(seed);
    const std::vector<float> weights = numbers.normal(shape.rows * shape.cols, 0.05f);
    ok = pack(shape, weights, bytes.span()).has_value();
    view = view_packed(shape, bytes.span()).value();
  }
  AlignedBytes bytes;
  PackedMatrix view;
  bool ok = false;
};

}  // namespace laya::simd

// How long things took, without keeping every sample: a histogram whose buckets grow with the
// value.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace laya::observe {

/// What people read. All in nanoseconds; zeros when nothing was recorded.
struct LatencySummary {
  std::uint64_t count = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p95_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t max_ns = 0;   ///< exact
  std::uint64_t mean_ns = 0;  ///< exact
};

/// 64 buckets to each doubling: a quantile is at most 1/64 (1.6 %) above the true one and never
/// below it. Values are exact below 64 ns; all above 2^40 ns (18 minutes) share the last bucket. 18
/// KB, fixed; record() neither locks nor allocates and may be called from any thread, also while
/// others read. The layout is HdrHistogram's (Tene), with 6 bits of precision.
class LatencyHistogram {
 public:
  LatencyHistogram() = default;
  LatencyHistogram(const LatencyHistogram&) = delete;
  LatencyHistogram& operator=(const LatencyHistogram&) = delete;

  /// Negative durations (a bug of the caller) count as 0.
  void record(std::int64_t duration_ns);

  /// Adds all samples of `other`; neither is locked, so merge when `other` is at rest to keep sums
  /// exact.
  void merge(const LatencyHistogram& other);
  /// Forgets everything. Not while others record.
  void clear();

  std::uint64_t count() const;
  std::uint64_t sum_ns() const { return sum_.load(std::memory_order_relaxed); }
  std::uint64_t max_ns() const { return max_.load(std::memory_order_relaxed); }

  /// Smallest value that at least the fraction `q` of the samples does not exceed (nearest rank);
  /// `q` is clamped to 0…1.
  std::uint64_t quantile_ns(double q) const;
  LatencySummary summary() const;

  /// Samples of at most `limit_ns`, to the resolution of a bucket: for cumulative histograms such
  /// as Prometheus'.
  std::uint64_t count_up_to(std::uint64_t limit_ns) const;

 private:
  static constexpr unsigned kPrecisionBits = 6;
  static constexpr unsigned kMaxBits = 40;
  static constexpr std::size_t kPerDoubling = std::size_t{1} << kPrecisionBits;
  static constexpr std::size_t kBuckets = kPerDoubling * (kMaxBits - kPrecisionBits + 1);

  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t upper_edge(std::size_t bucket);

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> max_{0};
};

/// Records the time from its construction to its destruction. The histogram must outlive it.
class ScopedLatency {
 public:
  explicit ScopedLatency(LatencyHistogram& histogram)
      : histogram_(histogram), start_ns_(base::monotonic_ns()) {}
  ~ScopedLatency() { histogram_.record(base::monotonic_ns() - start_ns_); }
  ScopedLatency(const ScopedLatency&) = delete;
  ScopedLatency& operator=(const ScopedLatency&) = delete;

 private:
  LatencyHistogram& histogram_;
  std::int64_t start_ns_;
};

}  // namespace laya::observe

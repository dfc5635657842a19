#include "observe/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace laya::observe {

constexpr auto kRelaxed =
    std::memory_order_relaxed;  // counters stand for themselves; nothing is published through them

std::size_t LatencyHistogram::bucket_of(std::uint64_t value) {
  if (value < kPerDoubling) {
    return static_cast<std::size_t>(value);
  }
  const unsigned bits = static_cast<unsigned>(std::bit_width(value));
  if (bits > kMaxBits) {
    return kBuckets - 1;
  }
  // The top 1 + kPrecisionBits bits: the leading one says the row, the rest the place in it.
  const unsigned shift = bits - 1 - kPrecisionBits;
  return kPerDoubling * (shift + 1) + static_cast<std::size_t>((value >> shift) - kPerDoubling);
}

std::uint64_t LatencyHistogram::upper_edge(std::size_t bucket) {
  if (bucket < kPerDoubling) {
    return bucket;
  }
  const std::size_t shift = bucket / kPerDoubling - 1;
  const std::uint64_t place = bucket % kPerDoubling + kPerDoubling;
  return ((place + 1) << shift) - 1;
}

void LatencyHistogram::record(std::int64_t duration_ns) {
  const std::uint64_t value = duration_ns < 0 ? 0 : static_cast<std::uint64_t>(duration_ns);
  buckets_[bucket_of(value)].fetch_add(1, kRelaxed);
  sum_.fetch_add(value, kRelaxed);
  std::uint64_t seen = max_.load(kRelaxed);
  while (value > seen && !max_.compare_exchange_weak(seen, value, kRelaxed)) {
  }
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    buckets_[i].fetch_add(other.buckets_[i].load(kRelaxed), kRelaxed);
  }
  sum_.fetch_add(other.sum_ns(), kRelaxed);
  const std::uint64_t value = other.max_ns();
  std::uint64_t seen = max_.load(kRelaxed);
  while (value > seen && !max_.compare_exchange_weak(seen, value, kRelaxed)) {
  }
}

void LatencyHistogram::clear() {
  for (auto& bucket : buckets_) {
    bucket.store(0, kRelaxed);
  }
  sum_.store(0, kRelaxed);
  max_.store(0, kRelaxed);
}

std::uint64_t LatencyHistogram::count() const {
  std::uint64_t total = 0;
  for (const auto& bucket : buckets_) {
    total += bucket.load(kRelaxed);
  }
  return total;
}

std::uint64_t LatencyHistogram::quantile_ns(double q) const {
  const std::uint64_t total = count();
  if (total == 0) {
    return 0;
  }
  const double clamped = std::isnan(q) ? 1.0 : std::clamp(q, 0.0, 1.0);
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(clamped * static_cast<double>(total))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i].load(kRelaxed);
    if (seen >= rank) {
      return i == kBuckets - 1 ? max_ns() : std::min(upper_edge(i), max_ns());
    }
  }
  return max_ns();
}

LatencySummary LatencyHistogram::summary() const {
  LatencySummary summary;
  summary.count = count();
  summary.p50_ns = quantile_ns(0.50);
  summary.p95_ns = quantile_ns(0.95);
  summary.p99_ns = quantile_ns(0.99);
  summary.max_ns = max_ns();
  summary.mean_ns = summary.count == 0 ? 0 : sum_ns() / summary.count;
  return summary;
}

std::uint64_t LatencyHistogram::count_up_to(std::uint64_t limit_ns) const {
  const std::size_t last = bucket_of(limit_ns);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= last; ++i) {
    total += buckets_[i].load(kRelaxed);
  }
  return total;
}

}  // namespace laya::observe

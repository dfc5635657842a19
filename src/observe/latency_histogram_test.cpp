#include "observe/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "base/allocation_counter.h"

namespace laya::observe {
namespace {

TEST(LatencyHistogram, IsEmptyAtFirst) {
  const LatencyHistogram histogram;
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.p99_ns, 0u);
  EXPECT_EQ(summary.max_ns, 0u);
}

TEST(LatencyHistogram, OneSampleIsEveryQuantileExactly) {
  for (const std::int64_t value :
       {0ll, 1ll, 63ll, 64ll, 65ll, 7'400'000ll, (1ll << 40) - 1, 1ll << 40, 1ll << 62}) {
    LatencyHistogram histogram;
    histogram.record(value);
    EXPECT_EQ(histogram.quantile_ns(0.0), static_cast<std::uint64_t>(value));
    EXPECT_EQ(histogram.quantile_ns(0.5), static_cast<std::uint64_t>(value));
    EXPECT_EQ(histogram.quantile_ns(1.0), static_cast<std::uint64_t>(value));
    EXPECT_EQ(histogram.max_ns(), static_cast<std::uint64_t>(value));
  }
}

TEST(LatencyHistogram, QuantilesAreNeverBelowAndAtMostOne64thAboveTheTruth) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0.0, 30.0);
  std::vector<std::uint64_t> values(20'000);
  LatencyHistogram histogram;
  for (auto& value : values) {
    value = static_cast<std::uint64_t>(std::exp2(exponent(random)));
    histogram.record(static_cast<std::int64_t>(value));
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.001, 0.25, 0.5, 0.95, 0.99, 0.999, 1.0}) {
    const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(values.size())));
    const std::uint64_t truth = values[static_cast<std::size_t>(rank) - 1];
    const std::uint64_t got = histogram.quantile_ns(q);
    EXPECT_GE(got, truth) << q;
    EXPECT_LE(got - truth, truth / 64) << q;
  }
}

TEST(LatencyHistogram, NegativeAndOddInputsDoNoHarm) {
  LatencyHistogram histogram;
  histogram.record(-5);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.max_ns(), 0u);
  histogram.record(10);
  EXPECT_EQ(histogram.quantile_ns(-1.0), 0u);
  EXPECT_EQ(histogram.quantile_ns(2.0), 10u);
  EXPECT_EQ(histogram.quantile_ns(std::nan("")), 10u);
}

TEST(LatencyHistogram, MergingIsLikeRecordingInOne) {
  LatencyHistogram a;
  LatencyHistogram b;
  LatencyHistogram both;
  for (std::int64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).record(i * i);
    both.record(i * i);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.sum_ns(), both.sum_ns());
  EXPECT_EQ(a.max_ns(), both.max_ns());
  for (const double q : {0.1, 0.5, 0.99}) {
    EXPECT_EQ(a.quantile_ns(q), both.quantile_ns(q));
  }
  a.clear();
  EXPECT_EQ(a.summary().count, 0u);
  EXPECT_EQ(a.max_ns(), 0u);
}

TEST(LatencyHistogram, LosesNothingWhenThreadsRecordTogether) {
  LatencyHistogram histogram;
  const auto work = [&] {
    for (std::int64_t i = 1; i <= 50'000; ++i) histogram.record(i);
  };
  std::thread first(work);
  std::thread second(work);
  first.join();
  second.join();
  EXPECT_EQ(histogram.count(), 100'000u);
  EXPECT_EQ(histogram.sum_ns(), 50'000ull * 50'001);
  EXPECT_EQ(histogram.max_ns(), 50'000u);
}

TEST(LatencyHistogram, RecordingAllocatesNothing) {
  LatencyHistogram histogram;
  const base::AllocationScope scope;
  for (int i = 0; i < 1000; ++i) {
    const ScopedLatency latency(histogram);
  }
  const LatencySummary summary = histogram.summary();
  EXPECT_EQ(scope.count(), 0u);
  EXPECT_EQ(summary.count, 1000u);
  EXPECT_GT(summary.max_ns, 0u);
}

TEST(LatencyHistogram, CountsUpToALimit) {
  LatencyHistogram histogram;
  for (const std::int64_t value : {1, 10, 63, 1'000'000}) histogram.record(value);
  EXPECT_EQ(histogram.count_up_to(0), 0u);
  EXPECT_EQ(histogram.count_up_to(10), 2u);
  EXPECT_EQ(histogram.count_up_to(63), 3u);
  EXPECT_EQ(histogram.count_up_to(900'000), 3u);
  EXPECT_EQ(histogram.count_up_to(~0ull), 4u);
}

}  // namespace
}  // namespace laya::observe

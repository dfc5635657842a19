#include "simd/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <vector>

#include "simd/cpu_features.h"
#include "simd/impl/cpu_relax.h"

namespace laya::simd {
namespace {

void wait_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) cpu_relax();
}

TEST(ThreadPool, EveryIndexRunsOnce) {
  for (const std::size_t threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t n : {0u, 1u, 2u, 3u, 100u, 1000u}) {
      std::vector<std::atomic<int>> seen(n);
      pool.run(n, [&seen](std::size_t i) { seen[i].fetch_add(1); });
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(seen[i].load(), 1) << threads << " " << n << " " << i;
    }
  }
}

TEST(ThreadPool, ManyShortRegionsKeepTheirResultsApart) {
  ThreadPool pool(2);
  std::vector<std::size_t> out(7);
  for (std::size_t round = 0; round < 20000; ++round) {
    const std::size_t n = 2 + round % 6;
    pool.run(n, [&out, round](std::size_t i) { out[i] = round + i; });
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], round + i);
  }
}

TEST(ThreadPool, WorksAgainAfterItsHelperParked) {
  ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> count{0};
    pool.run(50, [&count](std::size_t) { count.fetch_add(1); });
    EXPECT_EQ(count.load(), 50);
    wait_for(std::chrono::milliseconds(2));  // ten times the spin: the helper is on its futex
    if (round % 2 == 0) pool.wake();
  }
}

TEST(ThreadPool, IdleHelperUsesNoTime) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  pool.run(50, [&count](std::size_t) { count.fetch_add(1); });
  wait_for(std::chrono::milliseconds(5));
  // Processor time of the process less that of this thread.
  const auto helper_us = [] {
    const auto us = [](int who) {
      rusage usage{};
      getrusage(who, &usage);
      return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
             usage.ru_stime.tv_usec;
    };
    return us(RUSAGE_SELF) - us(RUSAGE_THREAD);
  };
  const auto before = helper_us();
  wait_for(std::chrono::milliseconds(60));
  EXPECT_LT(helper_us() - before, 20000);  // a spinning helper would show 60000
}

TEST(ThreadPool, ManyPoolsStartAndStop) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(2);
    if (i % 2 == 0) pool.run(3, [](std::size_t) {});
  }
}

TEST(CpuFeatures, NamesAreListed) {
  EXPECT_EQ(cpu_feature_names({}), "none");
  CpuFeatures features;
  features.avx2 = true;
  features.avx512_vnni = true;
  EXPECT_EQ(cpu_feature_names(features), "avx2 avx512-vnni");
}

}  // namespace
}  // namespace laya::simd

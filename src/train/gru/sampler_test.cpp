#include "train/gru/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace laya::train {
namespace {

TEST(CandidateSampler, HoldsEveryTargetOnceInOrderAndPads) {
  const std::vector<double> unigram(1000, 1.0);
  const CandidateSampler sampler(unigram, 50, 0.75, 64);
  const std::vector<std::int32_t> targets{7, 999, 7, 0, -1, 1000};
  const auto set = sampler.sample(targets, 3);
  ASSERT_EQ(set.ids.size() % 64, 0U);
  ASSERT_EQ(set.ids.size(), set.log_inclusion.size());
  const auto end = std::find(set.ids.begin(), set.ids.end(), -1);
  EXPECT_TRUE(std::is_sorted(set.ids.begin(), end));
  EXPECT_EQ(std::set<std::int32_t>(set.ids.begin(), end).size(),
            static_cast<std::size_t>(end - set.ids.begin()));
  for (const std::int32_t id : {0, 7, 999}) EXPECT_TRUE(std::find(set.ids.begin(), end, id) != end);
  for (const float p : set.log_inclusion) EXPECT_LE(p, 0.0F);
}

TEST(CandidateSampler, SameSeedSameSetOtherSeedOther) {
  const std::vector<double> unigram(1000, 1.0);
  const CandidateSampler sampler(unigram, 50);
  EXPECT_EQ(sampler.sample({}, 3).ids, sampler.sample({}, 3).ids);
  EXPECT_NE(sampler.sample({}, 3).ids, sampler.sample({}, 4).ids);
}

TEST(CandidateSampler, InclusionProbabilityIsWhatHappens) {
  std::vector<double> unigram(100);
  for (std::size_t i = 0; i < unigram.size(); ++i) unigram[i] = 1000.0 / static_cast<double>(i + 1);
  const CandidateSampler sampler(unigram, 30, 0.75, 1);
  std::vector<double> seen(100, 0.0), claimed(100, 0.0);
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const auto set = sampler.sample({}, static_cast<std::uint64_t>(i));
    for (std::size_t c = 0; c < set.ids.size(); ++c) {
      seen[static_cast<std::size_t>(set.ids[c])] += 1.0 / kDraws;
      claimed[static_cast<std::size_t>(set.ids[c])] =
          std::exp(static_cast<double>(set.log_inclusion[c]));
    }
  }
  for (std::size_t id = 0; id < 100; ++id) EXPECT_NEAR(seen[id], claimed[id], 0.04) << id;
}

TEST(CandidateSampler, WeightedSumsAreUnbiased) {
  // Σ value / P(in the set) over the set: what the sampled head's partition sum is. Its mean must
  // be the sum over all classes.
  std::vector<double> unigram(300), value(300);
  double exact = 0.0;
  for (std::size_t i = 0; i < unigram.size(); ++i) {
    unigram[i] = 1000.0 / static_cast<double>(i + 1);
    value[i] = std::exp(2.0 * std::sin(static_cast<double>(7 * i)));
    exact += value[i];
  }
  const CandidateSampler sampler(unigram, 60, 0.75, 1);
  double mean = 0.0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const auto set = sampler.sample({}, static_cast<std::uint64_t>(i));
    for (std::size_t c = 0; c < set.ids.size(); ++c) {
      mean += value[static_cast<std::size_t>(set.ids[c])] /
              std::exp(static_cast<double>(set.log_inclusion[c])) / kDraws;
    }
  }
  EXPECT_NEAR(mean / exact, 1.0, 0.02);
}

TEST(CandidateSampler, AsManyDrawsAsClassesMeansAll) {
  const std::vector<double> unigram(20, 0.0);
  const auto set = CandidateSampler(unigram, 20, 0.75, 1).sample({}, 1);
  ASSERT_EQ(set.ids.size(), 20U);
  for (const float p : set.log_inclusion) EXPECT_EQ(p, 0.0F);
}

}  // namespace
}  // namespace laya::train

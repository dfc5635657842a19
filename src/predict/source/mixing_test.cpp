#include "predict/source/mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace laya::predict {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

TEST(Mixing, LinearIsTheWeightedMeanOfProbabilities) {
  EXPECT_NEAR(mix(MixingKind::Linear, 0.25F, std::log(0.8F), std::log(0.4F)), std::log(0.5F), 1e-6);
  EXPECT_NEAR(mix(MixingKind::Linear, 0.25F, kNever, std::log(0.4F)), std::log(0.3F), 1e-6);
  EXPECT_EQ(mix(MixingKind::Linear, 0.25F, kNever, kNever), kNever);
}

TEST(Mixing, AShareOfNoneOrAllTakesOneSourceAsItIs) {
  for (const MixingKind kind : {MixingKind::Linear, MixingKind::LogLinear}) {
    EXPECT_EQ(mix(kind, 0, kNever, -2.0F), -2.0F);
    EXPECT_EQ(mix(kind, 1, -3.0F, kNever), -3.0F);
  }
}

TEST(Mixing, LogLinearKeepsAWordThatOneSourceCannotSee) {
  const float both = mix(MixingKind::LogLinear, 0.5F, -4.0F, -6.0F);
  EXPECT_FLOAT_EQ(both, -5.0F);
  const float one = mix(MixingKind::LogLinear, 0.5F, kNever, -6.0F);
  EXPECT_GT(one, kNever);
  EXPECT_LT(one, both);
}

TEST(Mixing, BucketsCoverAllLengths) {
  EXPECT_EQ(Mixing::context_bucket(0), 0U);
  EXPECT_EQ(Mixing::context_bucket(1), 1U);
  EXPECT_EQ(Mixing::context_bucket(3), 2U);
  EXPECT_EQ(Mixing::context_bucket(100000), Mixing::kContextBuckets - 1);
  EXPECT_EQ(Mixing::prefix_bucket(0), 0U);
  EXPECT_EQ(Mixing::prefix_bucket(2), 2U);
  EXPECT_EQ(Mixing::prefix_bucket(100), Mixing::kPrefixBuckets - 1);
}

TEST(Mixing, ShippedSharesAreShares) {
  for (const auto& row : shipped_mixing().word_network) {
    for (const float share : row) {
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 1);
    }
  }
}

}  // namespace
}  // namespace laya::predict

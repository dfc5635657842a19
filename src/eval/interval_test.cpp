#include "eval/interval.h"

#include <gtest/gtest.h>

#include <vector>

namespace laya::eval {
namespace {

TEST(Interval, WilsonIsThatOfTheTables) {
  const Interval half = wilson(5, 10);  // Newcombe 1998
  EXPECT_NEAR(half.low, 0.2366, 5e-5);
  EXPECT_NEAR(half.high, 0.7634, 5e-5);
  const Interval rare = wilson(81, 263);
  EXPECT_NEAR(rare.low, 0.2553, 5e-5);
  EXPECT_NEAR(rare.high, 0.3662, 5e-5);
  EXPECT_NEAR(wilson(0, 20).high, 0.1611, 5e-5);
  EXPECT_EQ(wilson(0, 20).low, 0);
  EXPECT_EQ(wilson(20, 20).high, 1);
}

TEST(Interval, NothingMeasuredMayBeAnything) {
  EXPECT_EQ(wilson(0, 0).low, 0);
  EXPECT_EQ(wilson(0, 0).high, 1);
  EXPECT_EQ(bootstrap({}).high, 0);
}

TEST(Interval, TheBootstrapOfIndependentTrialsIsNearWilson) {
  std::vector<Part> parts;
  for (int i = 0; i < 400; ++i) {
    parts.push_back({i % 4 == 0 ? 1.0 : 0.0, 1});
  }
  const Interval drawn = bootstrap(parts);
  const Interval exact = wilson(100, 400);
  EXPECT_NEAR(drawn.low, exact.low, 0.01);
  EXPECT_NEAR(drawn.high, exact.high, 0.01);
}

TEST(Interval, TheSameTextGivesTheSameInterval) {
  const std::vector<Part> parts{{1, 3}, {0, 4}, {2, 9}, {5, 6}};
  EXPECT_EQ(bootstrap(parts).low, bootstrap(parts).low);
  EXPECT_EQ(bootstrap(parts).high, bootstrap(parts).high);
}

// Two systems that differ by the same tenth on every line: the lines vary, the difference does not.
TEST(Interval, PairedDifferencesLeaveOutWhatTheTextVaries) {
  std::vector<Part> a;
  std::vector<Part> b;
  for (int i = 0; i < 50; ++i) {
    const double share = i % 2 == 0 ? 0.2 : 0.8;
    a.push_back({10 * share + 1, 10});
    b.push_back({10 * share, 10});
  }
  const Interval difference = bootstrap_difference(a, b);
  EXPECT_NEAR(difference.low, 0.1, 1e-9);
  EXPECT_NEAR(difference.high, 0.1, 1e-9);
  EXPECT_GT(bootstrap(a).high - bootstrap(a).low, 0.1);
}

}  // namespace
}  // namespace laya::eval

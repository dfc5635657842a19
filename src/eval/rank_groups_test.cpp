#include "eval/rank_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "predict/list/rank_features.h"
#include "predict/session/test_engine.h"

namespace laya::eval {
namespace {

struct Told {
  std::size_t rows;
  std::int32_t right;
  bool passed;  // some candidate had been passed over
};

RankGroupSink into(std::vector<Told>* told) {
  return [told](std::span<const float> rows, std::int32_t right) -> Status {
    const auto column = static_cast<std::size_t>(
        std::find(predict::kRankFeatureNames.begin(), predict::kRankFeatureNames.end(), "passed") -
        predict::kRankFeatureNames.begin());
    bool passed = false;
    for (std::size_t at = column; at < rows.size(); at += predict::kRankFeatures) {
      passed = passed || rows[at] > 0;
    }
    told->push_back({rows.size() / predict::kRankFeatures, right, passed});
    return {};
  };
}

TEST(RankGroups, SayWhichCandidateWasTyped) {
  std::vector<Told> told;
  const auto counts =
      make_rank_groups(predict::table_engine(), {"see you tomorrow."}, {.slots = 1}, into(&told));
  ASSERT_TRUE(counts) << counts.error().message;
  EXPECT_EQ(counts->decisions, told.size());
  EXPECT_GT(counts->known, 0U);
  EXPECT_GE(counts->third, counts->first);
  EXPECT_GT(counts->reciprocal, 0);
  for (const Told& one : told) {
    EXPECT_GE(one.rows, 1U);
    EXPECT_LT(one.right, static_cast<std::int32_t>(one.rows));
  }
}

TEST(RankGroups, HoldWhatWasPassedOver) {
  std::vector<Told> told;
  ASSERT_TRUE(make_rank_groups(predict::table_engine(), {"tomorrow tomorrow tomfoolery"},
                               {.slots = 3}, into(&told)));
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const Told& one) { return one.passed; }));
  // Nobody knows that word: no candidate is right while it is typed.
  EXPECT_EQ(told.back().right, kNoneRight);
}

TEST(RankGroups, LeaveChineseOut) {
  std::vector<Told> told;
  const auto counts =
      make_rank_groups(predict::table_engine(), {"我们明天再说"}, {.slots = 3}, into(&told));
  ASSERT_TRUE(counts);
  EXPECT_TRUE(told.empty());
}

TEST(RankGroups, FollowAKeyLogAndItsSlips) {
  KeySession session;
  session.typist = TypistKind::Simulated;
  session.meant = "see you tomorrow";
  std::uint64_t t = 0;
  std::uint64_t done = 0;
  for (const char c : std::string("see you t")) {
    session.events.push_back({.t_ms = t += 100, .text = std::string(1, c), .done = ++done});
  }
  session.end_ms = t;
  std::vector<Told> told;
  ASSERT_TRUE(
      make_rank_groups(predict::table_engine(), std::span(&session, 1), {.slots = 3}, into(&told)));
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told.back().right, kNoneRight);  // tomorrow
  session.meant.clear();
  told.clear();
  ASSERT_TRUE(
      make_rank_groups(predict::table_engine(), std::span(&session, 1), {.slots = 3}, into(&told)));
  EXPECT_TRUE(told.empty());
}

TEST(RankGroups, StopWhereTheSinkFails) {
  const auto counts = make_rank_groups(predict::table_engine(), {"see you"}, {},
                                       [](std::span<const float>, std::int32_t) -> Status {
                                         return Error{ErrorCode::Io, "full"};
                                       });
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace laya::eval

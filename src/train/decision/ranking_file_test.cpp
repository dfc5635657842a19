#include "train/decision/ranking_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/test_folder.h"

namespace laya::train {
namespace {

const std::string kHead = "#laya-ranking 1\n#features\ta\tb\n";

TEST(RankingFile, ReadsWhatItsHeadDescribes) {
  const auto groups = parse_ranking(kHead +
                                        "# anything\n\n1\t-2.5\t0\n0\t1e-3\t4\r\n\n\n"
                                        "0\t7\t-0",
                                    "text");
  ASSERT_TRUE(groups) << groups.error().message;
  EXPECT_EQ(groups->features, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(groups->first_row, (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(groups->right, (std::vector<std::int32_t>{0, kNoneRight}));
  EXPECT_EQ(groups->values, (std::vector<float>{-2.5F, 0, 1e-3F, 4, 7, 0}));
  const RankingGroups last = groups->part(1, 2);
  EXPECT_EQ(last.size(), 1U);
  EXPECT_EQ(last.rows_of(0)[0], 7.0F);
}

TEST(RankingFile, ComesBackBitForBit) {
  const base::TestFolder folder;
  const std::vector<std::string> names = {"a", "b"};
  auto writer = RankingWriter::create(folder.file("groups"), names);
  ASSERT_TRUE(writer) << writer.error().message;
  const std::vector<float> first = {0.1F, 1.0F / 3.0F, -1e-38F, 3e38F};
  const std::vector<float> second = {1.0F, 2.0F};
  ASSERT_TRUE(writer->add(first, 1));
  ASSERT_TRUE(writer->add(second, kNoneRight));
  EXPECT_FALSE(writer->add(second, 1));
  EXPECT_FALSE(writer->add(std::span(first).first(3), 0));
  EXPECT_FALSE(writer->add({}, kNoneRight));
  const std::vector<float> nan = {1.0F, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_FALSE(writer->add(nan, 0));
  ASSERT_TRUE(writer->finish());
  const auto text = base::read_file(folder.file("groups"), 1U << 20);
  ASSERT_TRUE(text);
  const auto groups = parse_ranking(*text, "groups");
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_EQ(groups->size(), 2U);
  EXPECT_TRUE(std::ranges::equal(groups->rows_of(0), first));
  EXPECT_TRUE(std::ranges::equal(groups->rows_of(1), second));
  EXPECT_EQ(groups->right, (std::vector<std::int32_t>{1, kNoneRight}));
}

TEST(RankingFile, LeavesNothingBehindWhenItIsNotFinished) {
  const base::TestFolder folder;
  {
    const std::vector<std::string> names = {"a"};
    auto writer = RankingWriter::create(folder.file("groups"), names);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(std::vector<float>{1.0F}, 0));
  }
  EXPECT_EQ(folder.count(), 0U);
  const std::vector<std::string> blank = {"a b"};
  EXPECT_FALSE(RankingWriter::create(folder.file("groups"), blank));
}

TEST(RankingFile, SaysInWhichLineItIsWrong) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1"},
      {"#laya-ranking 2\n", "line 1"},
      {"#laya-ranking 1\n", "line 2"},
      {"#laya-ranking 1\n#features\n", "line 2"},
      {"#laya-ranking 1\n#features\ta\ta\n", "two features"},
      {"#laya-ranking 1\n#features\ta\t\n", "no decision"},
      {kHead, "no decision"},
      {kHead + "2\t1\t1\n", "line 3"},
      {kHead + "1\t1\n", "line 3: a candidate has 2"},
      {kHead + "1\t1\t2\t3\n", "line 3: a candidate has 2"},
      {kHead + "1\t1\tx\n", "field 3"},
      {kHead + "1\t1\tnan\n", "field 3"},
      {kHead + "1\t1\t1e99\n", "field 3"},
      {kHead + "1\t1\t\n", "field 3"},
      {kHead + "1\t1\t1\n1\t1\t1\n", "line 4: a second right"},
      {kHead + "1\t1\t1\n#\n", "line 4"},
  };
  for (const auto& [text, word] : cases) {
    const auto groups = parse_ranking(text, "some file");
    ASSERT_FALSE(groups) << text;
    EXPECT_EQ(groups.error().code, ErrorCode::Corrupt);
    EXPECT_NE(groups.error().message.find(word), std::string::npos) << groups.error().message;
    EXPECT_EQ(groups.error().message.find("some file"), 0U);
  }
  std::string crowd = kHead;
  for (std::size_t i = 0; i <= kMaxRankingCandidates; ++i) crowd += "0\t1\t1\n";
  EXPECT_FALSE(parse_ranking(crowd, "crowd"));
}

}  // namespace
}  // namespace laya::train

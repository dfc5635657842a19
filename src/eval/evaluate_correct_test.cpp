#include "eval/evaluate_correct.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace laya::eval {
namespace {

TEST(EvaluateCorrect, ReadsPairs) {
  const auto pairs = parse_correct_pairs("# ours\nteh\tthe\n\nalot\ta lot\tI like it \r\n");
  ASSERT_TRUE(pairs);
  ASSERT_EQ(pairs->size(), 2u);
  EXPECT_EQ((*pairs)[0].typed, "teh");
  EXPECT_EQ((*pairs)[0].before, "");
  EXPECT_EQ((*pairs)[1].expected, "a lot");
  EXPECT_EQ((*pairs)[1].before, "I like it ");
}

TEST(EvaluateCorrect, NamesTheLineThatIsWrong) {
  for (const char* text : {"teh\tthe\nalone\n", "teh\tthe\n\tthe\n", "teh\tthe\nteh\t\n"}) {
    const auto pairs = parse_correct_pairs(text);
    ASSERT_FALSE(pairs) << text;
    EXPECT_EQ(pairs.error().code, ErrorCode::Corrupt);
    EXPECT_NE(pairs.error().message.find("line 2"), std::string::npos);
  }
}

TEST(EvaluateCorrect, CountsByPlaceAndIgnoresCase) {
  const std::vector<CorrectPair> pairs = {
      {"teh", "the", ""}, {"tow", "two", ""}, {"fuor", "four", ""}, {"fiev", "five", ""}};
  std::vector<std::string> words;
  const auto result = evaluate_correct(
      pairs,
      [&](std::string_view, std::string_view typed) -> Result<std::span<const std::string>> {
        words.clear();
        if (typed == "teh") words = {"The"};
        if (typed == "tow") words = {"to", "tow", "two"};
        if (typed == "fuor") words = {"a", "b", "c", "four"};  // too late
        return std::span<const std::string>(words);
      },
      {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->top1, 1u);
  EXPECT_EQ(result->top3, 2u);
  EXPECT_EQ(result->silent, 1u);
  EXPECT_EQ(result->missed, (std::vector<std::size_t>{2, 3}));
  const auto json = nlohmann::json::parse(to_json(*result));
  EXPECT_DOUBLE_EQ(json["top3"], 0.5);
}

TEST(EvaluateCorrect, AsksForEveryWordOfCleanTextBehindItsContext) {
  const std::vector<std::string> lines = {"It's 3 dogs, ok.", "我 say hi"};
  std::vector<std::string> asked;
  std::vector<std::string> words;
  const auto result = evaluate_clean(
      lines,
      [&](std::string_view before, std::string_view typed) -> Result<std::span<const std::string>> {
        asked.push_back(std::string(before) + "|" + std::string(typed));
        words.clear();
        if (typed == "ok") words = {"okay"};
        return std::span<const std::string>(words);
      },
      {});
  ASSERT_TRUE(result);
  EXPECT_EQ(asked, (std::vector<std::string>{"|It's", "It's 3 |dogs", "It's 3 dogs, |ok", "我 |say",
                                             "我 say |hi"}));
  EXPECT_EQ(result->words, 5u);
  EXPECT_EQ(result->flagged, 1u);
}

}  // namespace
}  // namespace laya::eval

#include "eval/evaluate_pinyin.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace laya::eval {
namespace {

/// Offers what a script says, whatever is typed.
PinyinTypist scripted(std::vector<std::vector<std::string>> lists,
                      std::vector<std::string>* typed = nullptr) {
  auto next = std::make_shared<std::size_t>(0);
  return [lists, next, typed](const std::string& keys, const std::string&) -> Result<PinyinAnswer> {
    if (typed != nullptr) typed->push_back(keys);
    return PinyinAnswer{lists[(*next)++], {1000, 3000}, -1};
  };
}

std::vector<NbestSentence> sentences(std::string_view text) {
  auto parsed = parse_nbest(text);
  EXPECT_TRUE(parsed);
  return *parsed;
}

TEST(EvaluatePinyin, CountsFirstAndAmongFiveAndCharacters) {
  const auto text = sentences("nihao\t你好\nwomen\t我们\nxian\t西安\n");
  const auto result = evaluate_pinyin(
      text, scripted({{"你好"}, {"我门", "我们"}, {"先", "现", "线", "县", "闲", "西安"}}), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->sentences, 3U);
  EXPECT_NEAR(result->p_at_1, 1.0 / 3, 1e-9);
  EXPECT_NEAR(result->p_at_5, 2.0 / 3, 1e-9);
  // 2 of 2, 1 of 2, and 先 for 西安 is two edits.
  EXPECT_NEAR(result->char_accuracy, 3.0 / 6, 1e-9);
  EXPECT_EQ(result->key_us_p99, 3);
}

TEST(EvaluatePinyin, LeavesOutMarksAndCutsAtBlanks) {
  std::vector<std::string> typed;
  const auto result =
      evaluate_pinyin(sentences("ni hao  a\t你好，啊。\n"), scripted({{"你好啊"}}, &typed), {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->p_at_1, 1);
  EXPECT_EQ(typed, std::vector<std::string>{"ni'hao'a"});
}

TEST(EvaluatePinyin, WritesTheFieldsThatWerePromised) {
  const auto result = evaluate_pinyin(sentences("nihao\t你好\n"), scripted({{"你好"}}), {});
  ASSERT_TRUE(result);
  const auto json = nlohmann::json::parse(to_json(*result));
  EXPECT_EQ(json["sentences"], 1);
  for (const char* share : {"p_at_1", "p_at_5", "char_accuracy"}) {
    EXPECT_EQ(json[share], 1.0) << share;
  }
  EXPECT_TRUE(json["key_us"]["p50"].is_number());
  EXPECT_TRUE(json["key_us"]["p99"].is_number());
}

TEST(EvaluatePinyin, ComparesTwoOnTheSameSentences) {
  const auto text = sentences("nihao\t你好\nwomen\t我们\n");
  const auto a = evaluate_pinyin(text, scripted({{"你好"}, {"我们"}}), {});
  const auto b = evaluate_pinyin(text, scripted({{"泥好"}, {"我们"}}), {});
  ASSERT_TRUE(a && b);
  const auto json = nlohmann::json::parse(difference_to_json(*a, *b));
  EXPECT_NEAR(json["p_at_1"].get<double>(), 0.5, 1e-9);
  EXPECT_NEAR(json["char_accuracy"].get<double>(), 0.25, 1e-9);
}

TEST(EvaluatePinyin, RefusesAnEmptyFile) {
  EXPECT_EQ(evaluate_pinyin({}, scripted({}), {}).error().code, ErrorCode::BadArgument);
}

}  // namespace
}  // namespace laya::eval

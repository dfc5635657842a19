#include "train/decision/decision_examples.h"

#include <gtest/gtest.h>

#include <string>

#include "model/decision/decision_config.h"

namespace laya::train {
namespace {

TEST(DecisionExamples, ReadsWindowsAndActions) {
  const auto examples = parse_decision_examples(
      "{\"window\":[3,1,4],\"action\":2}\n\n  \n{\"action\":0,\"window\":[9],\"note\":\"x\"}\r\n",
      "f");
  ASSERT_TRUE(examples) << examples.error().message;
  ASSERT_EQ(examples->size(), 2U);
  EXPECT_EQ(examples->vocabulary_size, 10U);
  EXPECT_EQ(examples->actions, 3U);
  EXPECT_EQ(examples->window(0).size(), 3U);
  EXPECT_EQ(examples->window(1)[0], 9U);
  const DecisionExamples second = examples->part(1, 2);
  EXPECT_EQ(second.window(0)[0], 9U);
  EXPECT_EQ(second.action[0], 0U);
  EXPECT_EQ(second.vocabulary_size, 10U);
}

TEST(DecisionExamples, KeepsTheNewestTokensOfALongWindow) {
  std::string line = "{\"window\":[7";
  for (int i = 0; i < 99; ++i) line += "," + std::to_string(i % 5);
  const auto examples = parse_decision_examples(line + "],\"action\":1}", "f");
  ASSERT_TRUE(examples);
  EXPECT_EQ(examples->window(0).size(), model::kMaxDecisionWindow);
  EXPECT_EQ(examples->window(0).back(), 98U % 5U);
  EXPECT_EQ(examples->vocabulary_size, 8U);
}

TEST(DecisionExamples, SaysInWhichLineTheyAreWrong) {
  const std::string good = "{\"window\":[1],\"action\":1}\n";
  for (const char* line :
       {"[1]", "{", "{\"action\":1}", "{\"window\":[],\"action\":1}", "{\"window\":[1]}",
        "{\"window\":[-1],\"action\":1}", "{\"window\":[1.5],\"action\":1}",
        "{\"window\":[1048576],\"action\":1}", "{\"window\":[1],\"action\":4096}",
        "{\"window\":[1],\"action\":\"1\"}", "{\"window\":1,\"action\":1}",
        "{\"window\":[[1]],\"action\":1}", "{\"window\":[1],\"action\":1} x"}) {
    const auto examples = parse_decision_examples(good + line, "some file");
    ASSERT_FALSE(examples) << line;
    EXPECT_EQ(examples.error().code, ErrorCode::Corrupt);
    EXPECT_EQ(examples.error().message.find("some file: line 2: "), 0U) << examples.error().message;
  }
  EXPECT_FALSE(parse_decision_examples("\n\n", "empty"));
}

}  // namespace
}  // namespace laya::train

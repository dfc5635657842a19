#include "eval/evaluate_rerank.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "eval/instant_scorer.h"
#include "predict/deep/test_deep_models.h"
#include "predict/deep/test_slow_decoder.h"
#include "predict/session/test_engine.h"

namespace laya::eval {
namespace {

using predict::Engine;
using predict::full_engine;
using predict::InstantScorer;
using predict::SlowDecoder;
using predict::SlowDecoderWatch;
using predict::small_tokenizer;
using predict::table_engine;
using predict::test_network;
using predict::test_table;
using predict::test_tokenizer;

TEST(ParseNbest, ReadsListsAndWhatStandsBefore) {
  const auto got = parse_nbest(
      "# made by hand\n#before\t明天，\nwomen\t我们\t我们\t-3.5\t我门\t-7\r\n\nqu\t去\n");
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ((*got)[0].typed, "women");
  EXPECT_EQ((*got)[0].before, "明天，");
  ASSERT_EQ((*got)[0].candidates.size(), 2u);
  EXPECT_EQ((*got)[0].candidates[1].text, "我门");
  EXPECT_DOUBLE_EQ((*got)[0].candidates[0].score, -3.5);
  EXPECT_EQ((*got)[1].before, "");
  EXPECT_TRUE((*got)[1].candidates.empty());
}

TEST(ParseNbest, NamesTheLineThatIsWrong) {
  for (const char* bad : {"a\tb\nonly", "a\tb\nx\ty\tz", "a\tb\nx\ty\tz\tnan", "a\tb\nx\ty\tz\t1x",
                          "a\tb\nx\ty\tz\t", "a\tb\nx\ty\tz\tinf"}) {
    const auto got = parse_nbest(bad);
    ASSERT_FALSE(got) << bad;
    EXPECT_EQ(got.error().code, ErrorCode::BadArgument);
    EXPECT_NE(got.error().message.find("line 2"), std::string::npos) << got.error().message;
  }
  EXPECT_TRUE(parse_nbest("")->empty());
}

std::shared_ptr<const Engine> engine_with_decoder() {
  predict::EngineParts parts = predict::full_parts();
  auto tokenizer = std::make_unique<text::SubwordTokenizer>(small_tokenizer());
  parts.decoder =
      std::make_unique<SlowDecoder>(tokenizer->size(), std::make_shared<SlowDecoderWatch>());
  parts.decoder_tokenizer = std::move(tokenizer);
  return predict::build_or_abort(std::move(parts));
}

TEST(EvaluateRerank, CountsAndLearnsOnTheOtherHalf) {
  const auto engine = engine_with_decoder();
  // The given order is right in the first four, the fifth's list does not hold the answer, the
  // sixth has none.
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += "women\t我们\t我们\t-1\t我门\t-90\n";
  }
  text += "mingtian\t明天\t名天\t-2\n";
  text += "chifan\t吃饭\n";
  const auto sentences = parse_nbest(text);
  ASSERT_TRUE(sentences);
  const auto result = evaluate_rerank(*engine, *sentences, {});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->sentences, 6u);
  EXPECT_NEAR(result->holds, 4.0 / 6, 1e-9);
  ASSERT_GE(result->orders.size(), 6u);
  EXPECT_EQ(result->orders[0].name, "as given");
  EXPECT_NEAR(result->orders[0].first, 4.0 / 6, 1e-9);
  EXPECT_NEAR(result->orders[0].characters, (4 + 0.5) / 6, 1e-9);
  // The given scores are so far apart that a learnt weight can only keep them in order.
  EXPECT_NEAR(result->orders[4].first, 4.0 / 6, 1e-9);
  EXPECT_NEAR(result->orders[5].first, 4.0 / 6, 1e-9);
  const auto json = nlohmann::json::parse(to_json(*result));
  EXPECT_EQ(json["orders"].size(), result->orders.size());

  EXPECT_FALSE(evaluate_rerank(*engine, {}, {}));
  EXPECT_FALSE(evaluate_rerank(table_engine(), *sentences, {}));
}

TEST(InstantScorer, PrefersWhatTheTableKnows) {
  InstantScorer scorer(table_engine());
  const std::vector<std::string_view> candidates{"you tomorrow", "you zebra", "tomorrow you"};
  std::vector<float> scores(3);
  ASSERT_TRUE(scorer.score("see ", candidates, scores));
  EXPECT_GT(scores[0], scores[1]);
  EXPECT_GT(scores[0], scores[2]);
}

TEST(InstantScorer, ColumnsAreIndependent) {
  InstantScorer scorer(full_engine());
  const std::vector<std::string_view> candidates{"我们明天见", "我", "", "see you tomorrow"};
  std::vector<float> together(4);
  ASSERT_TRUE(scorer.score("你好，", candidates, together));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    float alone = 0;
    ASSERT_TRUE(scorer.score("你好，", std::span(&candidates[i], 1), std::span(&alone, 1)));
    EXPECT_NEAR(alone, together[i], 1e-3);
  }
}

}  // namespace
}  // namespace laya::eval

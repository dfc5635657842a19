#include "train/text/dev_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

// Every token costs one bit.
Result<std::vector<float>> one_bit(const Batch& batch) {
  std::vector<float> nll(batch.targets.size(), static_cast<float>(std::log(2.0)));
  for (std::size_t i = 0; i < nll.size(); ++i) {
    if (batch.targets[i] < 0)
      nll[i] = std::numeric_limits<float>::quiet_NaN();  // padding must not count
  }
  return nll;
}

TEST(DevSet, CountsCodePointsAndTheNewline) {
  const text::Tokenizer tokenizer(small_vocabulary());
  DevSet dev;
  dev.add("zh", 3.0, "我在家\n\n你吃饭了。\n", encoder_of(tokenizer), 10);  // a token a character
  dev.add("en", 1.0, "see you \n", encoder_of(tokenizer), 10);  // 3 tokens, 9 characters
  for (std::uint32_t lanes : {1U, 2U, 64U}) {
    const DevReport report = dev.evaluate(one_bit, lanes).value();
    ASSERT_EQ(report.sources.size(), 2u);
    EXPECT_EQ(report.sources[0].characters, 4u + 6u);
    EXPECT_NEAR(report.sources[0].bits_per_character, 1.0, 1e-6);
    EXPECT_NEAR(report.sources[1].bits_per_character, 3.0 / 9.0, 1e-6);
    EXPECT_NEAR(report.mean, 0.75 + 0.25 / 3.0, 1e-6);
  }
}

TEST(DevSet, ScoresEachLineFromAnEmptyField) {
  const text::Tokenizer tokenizer(small_vocabulary());
  DevSet dev;
  dev.add("zh", 1.0, "我在\n家\n", encoder_of(tokenizer), 10);
  const auto id = [&](const char* text) {
    return static_cast<std::int32_t>(tokenizer.vocabulary().find(text));
  };
  const BatchScorer scorer = [&](const Batch& batch) -> Result<std::vector<float>> {
    const auto at = [&](std::size_t t, std::size_t b) { return t * batch.lanes + b; };
    EXPECT_EQ(batch.inputs[at(0, 0)], 1);
    EXPECT_EQ(batch.inputs[at(1, 0)], id("我"));
    EXPECT_EQ(batch.inputs[at(2, 0)], id("在"));
    EXPECT_EQ(batch.targets[at(2, 0)], 2);
    EXPECT_EQ(batch.targets[at(3, 0)], -1);
    EXPECT_EQ(batch.inputs[at(0, 1)], 1);
    EXPECT_EQ(batch.targets[at(0, 1)], id("家"));
    return one_bit(batch);
  };
  EXPECT_TRUE(dev.evaluate(scorer, 2).has_value());
}

TEST(DevSet, TakesLinesEvenlySpreadUpToTheLimit) {
  const text::Tokenizer tokenizer(small_vocabulary());
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "a" + std::string(static_cast<std::size_t>(i / 50), 'e') + "\n";
  DevSet dev;
  dev.add("a", 1.0, text, encoder_of(tokenizer), 10);
  ASSERT_EQ(dev.sources().size(), 1u);
  EXPECT_EQ(dev.sources()[0].lines.size(), 10u);
  EXPECT_EQ(dev.sources()[0].lines.front().size(), 2u);
  EXPECT_EQ(dev.sources()[0].lines.back().size(), 3u);
  DevSet none;
  none.add("a", 1.0, "\n \n", encoder_of(tokenizer), 10);
  EXPECT_TRUE(none.sources().empty());
}

TEST(DevSet, NotANumberIsAnError) {
  const text::Tokenizer tokenizer(small_vocabulary());
  DevSet dev;
  dev.add("a", 1.0, "see\n", encoder_of(tokenizer), 10);
  const BatchScorer scorer = [](const Batch& batch) -> Result<std::vector<float>> {
    return std::vector<float>(batch.targets.size(), std::numeric_limits<float>::quiet_NaN());
  };
  const Result<DevReport> report = dev.evaluate(scorer, 2);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::Internal);
}

}  // namespace
}  // namespace laya::train

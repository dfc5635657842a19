#include "train/text/batcher.h"

#include <gtest/gtest.h>

#include <map>

#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

class BatcherTest : public ::testing::Test {
 protected:
  BatcherTest() : tokenizer_(small_vocabulary()) {
    std::string a, b;
    for (int i = 0; i < 30; ++i) a += "see you at home " + std::to_string(i) + "\nthe train\n\n";
    for (int i = 0; i < 50; ++i) b += "我在家吃饭了" + std::to_string(i) + "\n\n";
    a_ = std::make_unique<Corpus>(Corpus::from_text(a, "a", encoder_of(tokenizer_)).value());
    b_ = std::make_unique<Corpus>(Corpus::from_text(b, "b", encoder_of(tokenizer_)).value());
  }
  Batcher make(double split, std::uint64_t seed = 3) {
    return Batcher::create({{a_.get(), 0.7, split}, {b_.get(), 0.3, split}}, 5, seed).value();
  }
  text::Tokenizer tokenizer_;
  std::unique_ptr<Corpus> a_, b_;
};

TEST_F(BatcherTest, TargetFollowsInputInEachLaneAcrossBatches) {
  Batcher batcher = make(0.5);
  Batch batch;
  std::vector<std::int32_t> expected(5, -1);  // what each lane's next input must be, or BOS
  for (int n = 0; n < 20; ++n) {
    batcher.next(7, batch);
    ASSERT_EQ(batch.inputs.size(), 35u);
    for (std::size_t t = 0; t < 7; ++t) {
      for (std::size_t lane = 0; lane < 5; ++lane) {
        const std::int32_t input = batch.inputs[t * 5 + lane];
        const std::int32_t target = batch.targets[t * 5 + lane];
        EXPECT_NE(target, static_cast<std::int32_t>(kBeginId));
        if (input != static_cast<std::int32_t>(kBeginId)) {
          EXPECT_EQ(input, expected[lane]);
        }
        // A sequence ends with a newline and nowhere else.
        if (input == static_cast<std::int32_t>(kBeginId) && expected[lane] >= 0) {
          EXPECT_EQ(expected[lane], static_cast<std::int32_t>(kNewlineId));
        }
        expected[lane] = target;
      }
    }
  }
}

TEST_F(BatcherTest, SplitLinesAlwaysOrNever) {
  for (double split : {0.0, 1.0}) {
    SCOPED_TRACE(split);
    Batcher batcher = make(split);
    Batch batch;
    std::size_t newline_inputs = 0;
    for (int n = 0; n < 50; ++n) {
      batcher.next(8, batch);
      for (std::int32_t input : batch.inputs)
        newline_inputs += input == static_cast<std::int32_t>(kNewlineId);
    }
    EXPECT_EQ(newline_inputs > 0, split == 0.0);
  }
}

TEST_F(BatcherTest, SharesAreOfTokensAndNoSourceRunsOut) {
  Batcher batcher = make(0.5);
  Batch batch;
  for (int n = 0; n < 2000; ++n) batcher.next(16, batch);
  const std::vector<std::uint64_t> tokens = batcher.tokens_per_source();
  EXPECT_NEAR(static_cast<double>(tokens[0]) / static_cast<double>(tokens[0] + tokens[1]), 0.7,
              0.02);
  EXPECT_GT(batcher.position().sources[0].epoch, 10u);
}

TEST_F(BatcherTest, EveryUnitComesOnceAnEpochInAnotherOrder) {
  Batcher batcher = Batcher::create({{b_.get(), 1.0, 0.0}}, 1, 3).value();
  Batch batch;
  std::vector<std::vector<std::int32_t>> epochs;
  for (int epoch = 0; epoch < 2; ++epoch) {
    batcher.next(static_cast<std::uint32_t>(b_->tokens().size()), batch);
    epochs.push_back(batch.targets);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  std::vector<std::int32_t> all(b_->tokens().begin(), b_->tokens().end());
  for (std::vector<std::int32_t>& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(epoch, all);
  }
}

TEST_F(BatcherTest, SameSeedSameBatchesOtherSeedOthers) {
  Batcher one = make(0.5), two = make(0.5), other = make(0.5, 4);
  Batch a, b, c;
  one.next(64, a);
  two.next(64, b);
  other.next(64, c);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_NE(a.inputs, c.inputs);
}

TEST_F(BatcherTest, GoesOnFromAPosition) {
  Batcher batcher = make(0.5);
  Batch batch, resumed;
  for (int n = 0; n < 37; ++n) batcher.next(11, batch);
  const BatchPosition position = batcher.position();
  Batcher fresh = make(0.5);
  ASSERT_TRUE(fresh.restore(position).has_value());
  EXPECT_EQ(fresh.position(), position);
  for (int n = 0; n < 100; ++n) {
    batcher.next(11, batch);
    fresh.next(11, resumed);
    ASSERT_EQ(batch.inputs, resumed.inputs);
    ASSERT_EQ(batch.targets, resumed.targets);
  }
}

TEST_F(BatcherTest, RefusesAPositionOfAnotherRun) {
  Batcher batcher = make(0.5);
  Batch batch;
  batcher.next(3, batch);
  const BatchPosition good = batcher.position();
  BatchPosition bad = good;
  bad.lanes.pop_back();
  EXPECT_FALSE(batcher.restore(bad).has_value());
  bad = good;
  bad.sources[0].cursor = 1000;
  EXPECT_FALSE(batcher.restore(bad).has_value());
  bad = good;
  bad.lanes[0].unit = 0xFFFFFFFF;
  EXPECT_FALSE(batcher.restore(bad).has_value());
  bad = good;
  bad.lanes[0].offset = 0xFFFFFFFF;
  EXPECT_FALSE(batcher.restore(bad).has_value());
}

TEST_F(BatcherTest, NeedsLanesAndText) {
  EXPECT_FALSE(Batcher::create({{a_.get(), 1.0, 0.5}}, 0, 1).has_value());
  EXPECT_FALSE(Batcher::create({{a_.get(), 0.0, 0.5}}, 4, 1).has_value());
}

}  // namespace
}  // namespace laya::train

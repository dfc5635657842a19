#include "train/gru/train_options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace laya::train {
namespace {

TEST(TrainOptions, SurviveJson) {
  TrainOptions options;
  options.mixture = "m.toml";
  options.run_dir = "run";
  options.start_from = "begun.laya";
  options.learning_rate = 1.7e-3F;
  options.decay = Decay::Trapezoid;
  options.seed = 0xFFFFFFFFFFFFFFFF;
  options.config.hidden_dim = 48;
  const std::string json = options_to_json(options);
  const TrainOptions read = options_from_json(json).value();
  EXPECT_EQ(options_to_json(read), json);
  EXPECT_EQ(read.learning_rate, options.learning_rate);
  EXPECT_EQ(read.seed, options.seed);
  EXPECT_EQ(read.start_from, options.start_from);
  EXPECT_EQ(read.config, options.config);
}

TEST(TrainOptions, DamagedJsonIsAnError) {
  for (const char* json : {"", "{}", "[1]", "{\"mixture\": 3}"}) {
    const Result<TrainOptions> options = options_from_json(json);
    ASSERT_FALSE(options.has_value()) << json;
    EXPECT_EQ(options.error().code, ErrorCode::Corrupt);
  }
}

TEST(TrainOptions, NamesTheOptionOutOfRange) {
  TrainOptions options;
  EXPECT_TRUE(options.validate().has_value());
  options.dropout = 1.0F;
  const Status status = options.validate();
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("dropout"), std::string::npos);
  options.dropout = std::nanf("");
  EXPECT_FALSE(options.validate().has_value());
}

TEST(LearningRate, WarmsUpThenFallsToZero) {
  TrainOptions options;
  options.learning_rate = 1.0F;
  options.warmup_tokens = 100;
  for (Decay decay : {Decay::Linear, Decay::Cosine, Decay::Trapezoid}) {
    SCOPED_TRACE(decay_name(decay));
    options.decay = decay;
    EXPECT_NEAR(learning_rate(options, 0, 0.0), 0.01F, 1e-6F);
    EXPECT_NEAR(learning_rate(options, 49, 0.0), 0.5F, 1e-6F);
    EXPECT_NEAR(learning_rate(options, 1000, 1.0), 0.0F, 1e-6F);
    float last = 2.0F;
    for (int i = 0; i <= 10; ++i) {
      const float rate = learning_rate(options, 1000, i / 10.0);
      EXPECT_LE(rate, last);
      last = rate;
    }
  }
  options.decay_from = 0.6;
  EXPECT_EQ(learning_rate(options, 1000, 0.6), 1.0F);
  EXPECT_NEAR(learning_rate(options, 1000, 0.8), 0.5F, 1e-6F);
}

TEST(RunProgress, IsWhicheverLimitIsNearer) {
  TrainOptions options;
  options.until_tokens = 1000;
  EXPECT_DOUBLE_EQ(run_progress(options, 250, 0.0, 0.0), 0.25);
  EXPECT_DOUBLE_EQ(run_progress(options, 250, 0.5, 0.0), 0.5);
  EXPECT_DOUBLE_EQ(run_progress(options, 250, 0.5, 0.25), 0.625);
  EXPECT_DOUBLE_EQ(run_progress(options, 2000, 0.0, 0.0), 1.0);
}

}  // namespace
}  // namespace laya::train

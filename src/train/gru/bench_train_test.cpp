#include "train/gru/bench_train.h"

#include <gtest/gtest.h>

namespace laya::train {
namespace {

TEST(BenchTrain, CountsTheWorkOfTheModelAndPrintsIt) {
  BenchTrainOptions options;
  options.steps = 4;
  options.batch = 4;
  options.candidates = 256;
  options.repeats = 1;
  const auto report = bench_train(options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->heads.size(), 2U);
  // Forward, input gradient and weight gradient: 6 operations a weight and token; embedding rows
  // count in the head only, norms and biases in no product.
  const double tokens = 16.0;
  const double full = 6.0 * tokens * static_cast<double>(report->parameters) * 1e-9;
  EXPECT_NEAR(report->heads[0].gflop, full, 0.01 * full);
  EXPECT_LT(report->heads[1].gflop, report->heads[0].gflop);
  for (const BenchHead& head : report->heads) {
    EXPECT_GT(head.tokens_per_second, 0.0);
    EXPECT_GT(head.ratio, 0.0);
    EXPECT_NE(format_report(*report).find(head.name), std::string::npos);
  }
}

TEST(BenchTrain, RefusesASizeOfZero) {
  BenchTrainOptions options;
  options.batch = 0;
  const auto report = bench_train(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::BadArgument);
}

}  // namespace
}  // namespace laya::train

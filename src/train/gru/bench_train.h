// The measurement behind `laya bench train`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/mlx/precision.h"

namespace laya::train {

struct BenchTrainOptions {
  std::uint32_t steps = 128;      ///< T
  std::uint32_t batch = 64;       ///< B
  std::size_t candidates = 2048;  ///< draws of the sampled head
  std::size_t repeats = 5;  ///< training steps timed (the median counts), after one to warm up
  Precision precision = best_precision();
};

/// One matrix product of the training step, timed alone.
struct BenchProduct {
  std::string name;  ///< m x n x k, "t" where A is read transposed, "+" where C is added to, "b"
                     ///< with bias, "1" where each thread has its own
  std::uint64_t runs = 0;  ///< calls in one step, all threads together
  double gflop = 0.0;      ///< work of these calls
  double gflops = 0.0;     ///< rate of oneDNN alone on this shape, all threads, GFLOP/s
};

struct BenchHead {
  std::string name;      ///< "full" or "sampled"
  double step_ms = 0.0;  ///< forward, backward and optimizer, median
  double tokens_per_second = 0.0;
  double gflop = 0.0;          ///< matrix-product work of one step
  double gflops = 0.0;         ///< gflop / step time
  double onednn_gflops = 0.0;  ///< gflop / (time of the same products alone)
  double ratio = 0.0;  ///< gflops / onednn_gflops: should be at least 0.5 in bf16, 0.6 in fp32
  std::vector<BenchProduct> products;
};

struct BenchTrainReport {
  std::string arithmetic;  ///< "bf16" or "fp32"
  std::size_t threads = 0;
  std::size_t parameters = 0;
  std::vector<BenchHead> heads;
};

/// Trains the shape that ships (model::default_gru_config) on random tokens with a natural
/// frequency distribution, and times oneDNN alone on the products that the step was counted to run,
/// between the steps. Takes some ten seconds; uses all OpenMP threads. Other programs on the same
/// cores lower the step's rate more than the ratio. Errors: those of gru_step; BadArgument for a
/// size of 0.
Result<BenchTrainReport> bench_train(const BenchTrainOptions& options);

/// A table for people.
std::string format_report(const BenchTrainReport& report);

}  // namespace laya::train

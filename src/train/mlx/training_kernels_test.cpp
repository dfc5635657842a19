// Every instruction set that this CPU has, against formulas written with <cmath> and against the
// base set.
#include "train/mlx/training_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace laya::train {
namespace {

std::vector<const TrainingKernels*> tables() {
  std::vector<const TrainingKernels*> all{&base::table()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    all.push_back(&avx2::table());
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    all.push_back(&avx512::table());
  }
#endif
  return all;
}

std::vector<float> wave(std::size_t n, float scale, float phase) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = scale * std::sin(phase + 1.7F * static_cast<float>(i));
  return x;
}

float from_bf16(BFloat16 x) {
  const std::uint32_t bits = std::uint32_t{x} << 16U;
  float out = 0.0F;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

TEST(TrainingKernels, Bf16RoundsToNearestEvenAndKeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  // 1 + 2^-8 lies half-way between two bf16 numbers; the even one is 1.
  std::vector<float> x{0.0F, -0.0F, 1.0F, 1.00390625F, 1.01171875F, 1.004F, inf, -inf, nan, -2.5F};
  x.resize(37, 3.0F);
  const std::vector<float> expected{0.0F, -0.0F, 1.0F, 1.0F, 1.015625F, 1.0078125F, inf, -inf};
  for (const TrainingKernels* table : tables()) {
    for (const std::size_t n : {std::size_t{10}, x.size()}) {  // the scalar tail and the vectors
      std::vector<BFloat16> out(n);
      table->bf16.convert(x.data(), out.data(), n);
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(from_bf16(out[i]), expected[i]);
      EXPECT_TRUE(std::isnan(from_bf16(out[8])));
      EXPECT_EQ(from_bf16(out[9]), -2.5F);
    }
  }
}

TEST(TrainingKernels, GruStepFollowsTheFormulaFarIntoSaturation) {
  constexpr std::size_t d = 48;
  const auto gi = wave(3 * d, 60.0F, 0.1F);
  const auto gh = wave(3 * d, 60.0F, 0.7F);
  const auto bias = wave(3 * d, 1.0F, 1.3F);
  const auto previous = wave(d, 1.0F, 2.0F);
  for (const TrainingKernels* table : tables()) {
    std::vector<float> h(d), operand(d), saved(4 * d);
    table->f32.gru_forward(gi.data(), gh.data(), bias.data(), previous.data(), d, h.data(),
                           operand.data(), saved.data());
    for (std::size_t i = 0; i < d; ++i) {
      const auto gate = [&](std::size_t at) {
        return 1.0 / (1.0 + std::exp(-static_cast<double>(gi[at] + gh[at] + bias[at])));
      };
      const double r = gate(i);
      const double z = gate(d + i);
      const double n = static_cast<double>(gh[2 * d + i] + bias[2 * d + i]);
      const double c = std::tanh(static_cast<double>(gi[2 * d + i]) + r * n);
      EXPECT_NEAR(h[i], (1.0 - z) * c + z * static_cast<double>(previous[i]), 2e-5);
      EXPECT_EQ(h[i], operand[i]);
    }
  }
}

TEST(TrainingKernels, SoftmaxRowSurvivesHugeLogitsAndSumsToTheWeight) {
  constexpr std::size_t n = 80;
  const std::vector<float> bias(n, 0.0F);
  for (const float scale : {1.0F, 300.0F, 1e6F}) {
    const auto logits = wave(n, scale, 0.3F);
    double top = -1e30;
    for (const float x : logits) top = std::max(top, static_cast<double>(x));
    double total = 0.0;
    for (const float x : logits) total += std::exp(static_cast<double>(x) - top);
    const double expected = top + std::log(total) - static_cast<double>(logits[5]);
    for (const TrainingKernels* table : tables()) {
      auto work = logits;
      std::vector<float> gradient(n), dbias(n, 0.0F);
      const float nll = table->f32.softmax(work.data(), bias.data(), n, 5, 0.0F, 0.5F,
                                           gradient.data(), dbias.data());
      EXPECT_NEAR(nll, expected, 1e-5 * std::max(1.0, std::abs(expected)));
      double sum = 0.0;
      for (const float g : gradient) sum += static_cast<double>(g);
      EXPECT_NEAR(sum, 0.0, 1e-5) << "weight * (softmax - one-hot) sums to nothing";
      EXPECT_EQ(dbias, gradient);
    }
  }
}

TEST(TrainingKernels, DropoutMaskIsTheSameForEverySetAndEverySplit) {
  const std::vector<float> x(100, 1.0F);
  std::vector<float> expected(100);
  base::table().dropout(x.data(), 100, 0, 42, 1U << 30U, 2.0F, expected.data());
  for (const TrainingKernels* table : tables()) {
    std::vector<float> out(100);
    table->dropout(x.data(), 48, 0, 42, 1U << 30U, 2.0F, out.data());
    table->dropout(x.data() + 48, 52, 48, 42, 1U << 30U, 2.0F, out.data() + 48);
    EXPECT_EQ(out, expected);
  }
}

TEST(TrainingKernels, SquaredNormOfALongVector) {
  const auto x = wave(100'003, 1.0F, 0.0F);
  double expected = 0.0;
  for (const float v : x) expected += static_cast<double>(v) * static_cast<double>(v);
  for (const TrainingKernels* table : tables()) {
    EXPECT_NEAR(table->squared_norm(x.data(), x.size()), expected, 1e-6 * expected);
  }
}

}  // namespace
}  // namespace laya::train

#include "train/mlx/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace laya::train {
namespace {

struct Tensor {
  explicit Tensor(std::size_t n) : value(n), m(n, 0.0F), v(n, 0.0F), gradient(n) {
    for (std::size_t i = 0; i < n; ++i) {
      value[i] = std::sin(static_cast<float>(i));
      gradient[i] = std::cos(static_cast<float>(3 * i));
    }
  }
  AdamWSlot slot(WeightDecay decay) { return {value, m, v, gradient, decay}; }
  std::vector<float> value, m, v, gradient;
};

TEST(AdamW, FollowsTheAlgorithmForOddLengthsWithDecayAndClipping) {
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{5003}}) {
    Tensor tensor(n);
    auto value = tensor.value;
    std::vector<float> m(n, 0.0F), v(n, 0.0F);
    double squares = 0.0;
    for (const float g : tensor.gradient)
      squares += static_cast<double>(g) * static_cast<double>(g);
    AdamWStep step;
    step.weight_decay = 0.1F;
    step.max_gradient_norm = 0.5F;
    for (step.step = 1; step.step <= 3; ++step.step) {
      const AdamWSlot slot = tensor.slot(WeightDecay::Apply);
      EXPECT_NEAR(adamw_step({&slot, 1}, step), std::sqrt(squares), 1e-4 * std::sqrt(squares));
      const double scale = std::min(1.0, 0.5 / std::sqrt(squares));
      for (std::size_t i = 0; i < n; ++i) {
        const double g = static_cast<double>(tensor.gradient[i]) * scale;
        m[i] = static_cast<float>(0.9 * static_cast<double>(m[i]) + 0.1 * g);
        v[i] = static_cast<float>(0.99 * static_cast<double>(v[i]) + 0.01 * g * g);
        const double first = static_cast<double>(m[i]) / (1.0 - std::pow(0.9, step.step));
        const double second = static_cast<double>(v[i]) / (1.0 - std::pow(0.99, step.step));
        value[i] -= static_cast<float>(
            1e-3 * (first / (std::sqrt(second) + 1e-8) + 0.1 * static_cast<double>(value[i])));
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_NEAR(tensor.value[i], value[i], 2e-6F) << "element " << i << " of " << n;
  }
}

TEST(AdamW, DecayIsSkippedWhereAsked) {
  Tensor tensor(20);
  tensor.gradient.assign(20, 0.0F);
  const auto before = tensor.value;
  const AdamWSlot slot = tensor.slot(WeightDecay::Skip);
  EXPECT_EQ(adamw_step({&slot, 1}, AdamWStep{}), 0.0);
  EXPECT_EQ(tensor.value, before);
}

TEST(AdamW, ANormThatIsNoNumberChangesNothing) {
  Tensor tensor(40);
  tensor.gradient[33] = std::numeric_limits<float>::quiet_NaN();
  const auto before = tensor.value;
  const AdamWSlot slot = tensor.slot(WeightDecay::Apply);
  EXPECT_FALSE(std::isfinite(adamw_step({&slot, 1}, AdamWStep{})));
  EXPECT_EQ(tensor.value, before);
  EXPECT_EQ(tensor.m, std::vector<float>(40, 0.0F));
}

}  // namespace
}  // namespace laya::train

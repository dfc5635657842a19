#include "train/mlx/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "train/mlx/operand.h"

namespace laya::train {
namespace {

// Small integers: exact in bf16 and in fp32 sums, so that any difference is a mistake of layout.
std::vector<float> integers(std::size_t n, unsigned seed) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>((i * 7 + seed * 3) % 11) - 5.0F;
  return x;
}

void expect_product(const GemmShape& shape, Layout b_layout) {
  const auto m = static_cast<std::size_t>(shape.m);
  const auto n = static_cast<std::size_t>(shape.n);
  const auto k = static_cast<std::size_t>(shape.k);
  const auto a = integers(m * k, 1);
  const auto b = integers(k * n, 2);
  const auto bias = integers(n, 3);
  auto c = integers(m * n, 4);
  auto expected = c;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float sum = shape.accumulate == Accumulate::Yes ? c[i * n + j] : 0.0F;
      if (shape.bias == Bias::Yes) sum += bias[j];
      for (std::size_t p = 0; p < k; ++p) {
        sum += (shape.a == Layout::Normal ? a[i * k + p] : a[p * m + i]) *
               (b_layout == Layout::Normal ? b[p * n + j] : b[j * k + p]);
      }
      expected[i * n + j] = sum;
    }
  }
  const Gemm& product = gemm(shape);
  const Operand operand_a(a.data(), a.size(), shape.precision);
  const Operand operand_b(b.data(), b.size(), shape.precision);
  const PackedOperand packed(product, operand_b.data(), b_layout);
  product.run(operand_a.data(), packed.data(), c.data(), bias.data());
  EXPECT_EQ(c, expected) << m << "x" << n << "x" << k;
}

TEST(Gemm, EqualsTheTripleLoopInEveryLayout) {
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    if (precision == Precision::Bf16 && best_precision() != Precision::Bf16) continue;
    for (const Layout a : {Layout::Normal, Layout::Transposed}) {
      for (const Layout b : {Layout::Normal, Layout::Transposed}) {
        for (const GemmThreads threads : {GemmThreads::One, GemmThreads::All}) {
          GemmShape shape{.m = 37, .n = 48, .k = 65, .a = a, .precision = precision};
          shape.threads = threads;
          expect_product(shape, b);
          shape.accumulate = Accumulate::Yes;
          expect_product(shape, b);
          shape.accumulate = Accumulate::No;
          shape.bias = Bias::Yes;
          expect_product(shape, b);
        }
      }
    }
    expect_product({.m = 1, .n = 1, .k = 1, .precision = precision}, Layout::Normal);
  }
}

TEST(Gemm, CountsItsRuns) {
  const GemmShape shape{.m = 3, .n = 5, .k = 7};
  const auto runs = [&] {
    for (const GemmUse& use : gemm_uses()) {
      if (use.shape == shape) return use.runs;
    }
    return std::uint64_t{0};
  };
  expect_product(shape, Layout::Normal);
  const auto before = runs();
  expect_product(shape, Layout::Normal);
  EXPECT_EQ(runs(), before + 1);
}

}  // namespace
}  // namespace laya::train

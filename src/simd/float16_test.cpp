#include "simd/float16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "simd/ops.h"
#include "simd/test_data.h"

namespace laya::simd {
namespace {

TEST(Float16, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const float value = float_from_fp16(static_cast<std::uint16_t>(h));
    if (std::isnan(value)) continue;
    ASSERT_EQ(fp16_from_float(value), h);
  }
}

TEST(Float16, RoundsToNearestEvenAndOverflowsToInfinity) {
  const struct {
    float value;
    std::uint16_t half;
  } cases[] = {
      {0.0f, 0x0000},
      {-0.0f, 0x8000},
      {1.0f, 0x3C00},
      {65504.0f, 0x7BFF},
      {65519.9f, 0x7BFF},
      {65520.0f, 0x7C00},
      {-1e9f, 0xFC00},
      {1.00048828125f, 0x3C00},
      {1.00146484375f, 0x3C02},
      {0x1p-24f, 0x0001},
      {0x1p-25f, 0x0000},
      {0x1.8p-24f, 0x0002},
      {0x1.000002p-25f, 0x0001},
      {std::numeric_limits<float>::infinity(), 0x7C00},
  };
  for (const auto& c : cases) EXPECT_EQ(fp16_from_float(c.value), c.half) << c.value;
  EXPECT_TRUE(
      std::isnan(float_from_fp16(fp16_from_float(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Float16, EveryTableAgreesWithTheScalarOne) {
  Numbers numbers(11);
  std::vector<float> x;
  for (int i = 0; i < 3000; ++i) {
    // Any exponent, and values half way between two halves.
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(numbers.bits())));
    if (std::isnan(x.back())) x.back() = 0.5f;
    x.push_back(float_from_fp16(static_cast<std::uint16_t>(numbers.below(0x7BFF))) *
                1.00048828125f);
  }
  std::vector<std::uint16_t> halves(0x10000);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const Kernels* table : available_kernels()) {
    SCOPED_TRACE(table->name);
    std::vector<std::uint16_t> want(x.size());
    std::vector<std::uint16_t> got(x.size());
    to_fp16(scalar_kernels(), x, want);
    to_fp16(*table, x, got);
    EXPECT_EQ(got, want);
    std::vector<float> wide(halves.size() - 3);  // an odd length, an odd start
    from_fp16(*table, std::span(halves).subspan(3), wide);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const float w = float_from_fp16(halves[i + 3]);
      ASSERT_TRUE(wide[i] == w || (std::isnan(w) && std::isnan(wide[i]))) << i;
    }
  }
}

}  // namespace
}  // namespace laya::simd

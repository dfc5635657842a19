// Passes of many columns on a tile unit: the logic with an emulated unit wherever there is AVX-512,
// the instructions themselves where the CPU has AMX (matmul_test.cpp then runs on that table too).
#include <gtest/gtest.h>

#include "simd/cpu_features.h"
#include "simd/emulated_tiles.h"
#include "simd/impl/tile_checks.h"
#include "simd/ops.h"
#include "simd/test_data.h"

namespace laya::simd {
namespace {

std::vector<float> product(const Kernels& kernels, const PackedMatrix& m, std::span<const float> x,
                           std::size_t columns, std::span<const float> bias) {
  Activations activations(m.cols, columns);
  activations.set(kernels, x, m.cols, columns, m.cols, m.group);
  std::vector<float> out(m.rows * columns, 99.0f);
  matmul(kernels, {&m, &activations, bias, out, m.rows});
  return out;
}

void expect_bits_of_scalar(const Kernels& table) {
  for (const WeightType type : {WeightType::Int8, WeightType::Int4}) {
    for (const std::size_t group : {32u, 64u, 128u}) {
      for (const Minima minima : {Minima::None, Minima::PerGroup}) {
        for (const std::size_t rows : {1u, 16u, 70u, 131u}) {
          for (const std::size_t cols : {1u, 33u, 128u, 300u}) {
            const TestMatrix matrix({rows, cols, type, group, minima}, rows + cols);
            ASSERT_TRUE(matrix.ok);
            const std::vector<float> x = Numbers(cols).normal(kMaxColumns * cols, 1.0f);
            const std::vector<float> bias = Numbers(9).uniform(rows, 1.0f);
            for (const std::size_t columns : {1u, 8u, 9u, 12u, 16u}) {
              SCOPED_TRACE(testing::Message() << static_cast<int>(type) << "/" << group
                                              << " minima " << static_cast<int>(minima) << ", "
                                              << rows << " x " << cols << " x " << columns);
              ASSERT_EQ(product(table, matrix.view, x, columns, bias),
                        product(scalar_kernels(), matrix.view, x, columns, bias));
            }
          }
        }
      }
    }
  }
}

TEST(TileProducts, TheEmulatedUnitGivesTheBitsOfTheScalarTable) {
  if (!detect_cpu_features().avx512_vnni) GTEST_SKIP() << "needs AVX-512 with VNNI";
  const std::size_t before = emulated_tile_products();
  expect_bits_of_scalar(kEmulatedTileKernels);
  EXPECT_GT(emulated_tile_products(), before);  // the tiles did the work
}

TEST(TileProducts, ChosenRowsHaveTheBitsOfTheWholeProduct) {
  if (!detect_cpu_features().avx512_vnni) GTEST_SKIP() << "needs AVX-512 with VNNI";
  const TestMatrix matrix({200, 96, WeightType::Int4, 32, Minima::PerGroup}, 3);
  const std::vector<float> x = Numbers(4).normal(16 * 96, 1.0f);
  const std::vector<float> whole = product(kEmulatedTileKernels, matrix.view, x, 16, {});
  Activations activations(96, 16);
  activations.set(kEmulatedTileKernels, x, 96, 16, 96, 32);
  const std::vector<std::uint32_t> rows = {199, 3, 4, 80, 80, 17};
  std::vector<float> got(16 * rows.size());
  matmul_rows(kEmulatedTileKernels, {&matrix.view, &activations, {}, got, rows.size()}, rows);
  for (std::size_t c = 0; c < 16; ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(got[c * rows.size() + i], whole[c * 200 + rows[i]]);
    }
  }
}

// Activations made by another table have no rows for the tiles; the product is right all the same.
TEST(TileProducts, ActivationsOfAnyTableWillDo) {
  if (!detect_cpu_features().avx512_vnni) GTEST_SKIP() << "needs AVX-512 with VNNI";
  const TestMatrix matrix({40, 64, WeightType::Int8, 32, Minima::None}, 3);
  const std::vector<float> x = Numbers(4).normal(16 * 64, 1.0f);
  Activations activations(64, 16);
  activations.set(scalar_kernels(), x, 64, 16, 64, 32);
  std::vector<float> got(16 * 40);
  matmul(kEmulatedTileKernels, {&matrix.view, &activations, {}, got, 40});
  EXPECT_EQ(got, product(scalar_kernels(), matrix.view, x, 16, {}));
}

TEST(TileProducts, TheStartUpCheckSeesAWrongUnit) {
  if (!detect_cpu_features().avx512_vnni) GTEST_SKIP() << "needs AVX-512 with VNNI";
  EXPECT_TRUE(same_wide_products(kEmulatedTileKernels, scalar_kernels()));
  Kernels wrong = kEmulatedTileKernels;
  wrong.matmul_blocks = [](const MatmulArgs& args, std::size_t first, std::size_t last) {
    kEmulatedTileKernels.matmul_blocks(args, first, last);
    args.out[args.out_stride + 3] += 1e-3f;
  };
  EXPECT_FALSE(same_wide_products(wrong, scalar_kernels()));
}

TEST(TileProducts, AmxGivesTheBitsOfTheScalarTable) {
  const Kernels* amx = find_kernels("avx512-amx");
  if (amx == nullptr) GTEST_SKIP() << "this CPU or system gives no AMX tiles";
  expect_bits_of_scalar(*amx);
}

}  // namespace
}  // namespace laya::simd

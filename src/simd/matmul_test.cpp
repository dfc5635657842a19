// Products: every table against the scalar one, to the last bit, and the scalar one against plain
// sums.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "simd/ops.h"
#include "simd/test_data.h"
#include "simd/thread_pool.h"

namespace laya::simd {
namespace {

struct Kind {
  const char* name;
  WeightType type;
  std::size_t group;
  Minima minima;
};

constexpr Kind kKinds[] = {
    {"int8/32", WeightType::Int8, 32, Minima::None},
    {"int8/64", WeightType::Int8, 64, Minima::None},
    {"int8/128", WeightType::Int8, 128, Minima::None},
    {"int8/32 min", WeightType::Int8, 32, Minima::PerGroup},
    {"int8/64 min", WeightType::Int8, 64, Minima::PerGroup},
    {"int8/128 min", WeightType::Int8, 128, Minima::PerGroup},
    {"int4/32", WeightType::Int4, 32, Minima::None},
    {"int4/64", WeightType::Int4, 64, Minima::None},
    {"int4/128", WeightType::Int4, 128, Minima::None},
    {"int4/32 min", WeightType::Int4, 32, Minima::PerGroup},
    {"int4/64 min", WeightType::Int4, 64, Minima::PerGroup},
    {"int4/128 min", WeightType::Int4, 128, Minima::PerGroup},
    {"fp16", WeightType::Fp16, 0, Minima::None},
    {"fp32", WeightType::Fp32, 0, Minima::None},
};

// Vectors at any alignment with the activations made of them by `kernels`.
struct Input {
  Input(const Kernels& kernels, std::size_t length, std::size_t columns, std::size_t shift,
        std::size_t group)
      : stride(length + 3),
        values(Numbers(length * 31 + columns).normal(stride * columns + shift, 1.0f)),
        activations(length, columns) {
    activations.set(kernels, std::span(values).subspan(shift), length, columns, stride, group);
  }
  std::size_t stride;
  std::vector<float> values;
  Activations activations;
};

std::vector<float> product(const Kernels& kernels, const PackedMatrix& m, const Activations& x,
                           std::span<const float> bias) {
  std::vector<float> out(m.rows * x.view().columns, 99.0f);
  matmul(kernels, {&m, &x, bias, out, m.rows});
  return out;
}

TEST(Matmul, ScalarIsTheProductOfWhatTheCodesMean) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const std::size_t rows = 21, cols = 150, columns = 2;
    const TestMatrix matrix({rows, cols, kind.type, kind.group, kind.minima}, 5);
    ASSERT_TRUE(matrix.ok);
    const Input input(scalar_kernels(), cols, columns, 1, kind.group);
    const ActivationView& x = input.activations.view();
    const std::vector<float> bias = Numbers(6).uniform(rows, 1.0f);
    const std::vector<float> got = product(scalar_kernels(), matrix.view, input.activations, bias);
    std::vector<float> weights(rows * cols);
    ASSERT_TRUE(unpack(matrix.view, weights).has_value());
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t r = 0; r < rows; ++r) {
        double want = bias[r];
        double exact = bias[r];  // with the activations as they came
        for (std::size_t k = 0; k < cols; ++k) {
          const float value = x.values[c * x.value_stride + k];
          double used = value;
          if (kind.group != 0) {
            used = x.scales[k / kind.group * columns + c] *
                   x.codes[(k / kQuad * columns + c) * kQuad + k % kQuad];
            EXPECT_NEAR(used, value, 0.501 * x.scales[k / kind.group * columns + c]);
          }
          want += used * weights[r * cols + k];
          exact += value * weights[r * cols + k];
        }
        EXPECT_NEAR(got[c * rows + r], want, 2e-5) << r << " " << c;
        EXPECT_NEAR(got[c * rows + r], exact, 0.05) << r << " " << c;
      }
    }
  }
}

TEST(Matmul, EveryTableHasTheBitsOfTheScalarOne) {
  for (const Kernels* table : available_kernels()) {
    for (const Kind& kind : kKinds) {
      for (const std::size_t rows : {1u, 15u, 16u, 17u, 80u}) {
        for (const std::size_t cols : {1u, 3u, 31u, 32u, 33u, 64u, 128u, 129u, 260u}) {
          const TestMatrix matrix({rows, cols, kind.type, kind.group, kind.minima}, rows + cols);
          for (const std::size_t columns : {1u, 2u, 3u, 5u, 16u}) {
            if (columns > 1 && rows == 15) continue;  // keeps the sweep short under emulation
            SCOPED_TRACE(testing::Message() << table->name << " " << kind.name << " " << rows
                                            << " x " << cols << " x " << columns);
            const Input input(scalar_kernels(), cols, columns, columns % 4, kind.group);
            const std::vector<float> bias = Numbers(7).uniform(columns % 2 == 0 ? rows : 0, 1.0f);
            ASSERT_EQ(product(*table, matrix.view, input.activations, bias),
                      product(scalar_kernels(), matrix.view, input.activations, bias));
          }
        }
      }
    }
  }
}

TEST(Matmul, EveryColumnCountGivesTheBitsOfOneColumn) {
  for (const Kernels* table : available_kernels()) {
    for (const Kind& kind : kKinds) {
      const std::size_t rows = 70, cols = 128;
      const TestMatrix matrix({rows, cols, kind.type, kind.group, kind.minima}, 1);
      const std::vector<float> values = Numbers(2).normal(16 * cols, 1.0f);
      Activations one(cols, 1);
      std::vector<float> want;
      for (std::size_t c = 0; c < 16; ++c) {
        one.set(*table, std::span(values).subspan(c * cols, cols), kind.group);
        const std::vector<float> y = product(*table, matrix.view, one, {});
        want.insert(want.end(), y.begin(), y.end());
      }
      Activations many(cols, 16);
      for (std::size_t columns = 1; columns <= 16; ++columns) {
        SCOPED_TRACE(testing::Message()
                     << table->name << " " << kind.name << " columns " << columns);
        many.set(*table, values, cols, columns, cols, kind.group);
        ASSERT_EQ(product(*table, matrix.view, many, {}),
                  std::vector<float>(want.begin(),
                                     want.begin() + static_cast<std::ptrdiff_t>(columns * rows)));
      }
    }
  }
}

TEST(Matmul, RowsInAnyOrderHaveTheBitsOfTheWholeProduct) {
  const std::size_t rows = 100, cols = 96;
  const std::vector<std::uint32_t> list = {99, 0, 1, 2, 17, 16, 99, 99, 50, 31, 32, 3};
  for (const Kernels* table : available_kernels()) {
    for (const Kind& kind : kKinds) {
      for (const std::size_t columns : {1u, 3u, 16u}) {
        SCOPED_TRACE(testing::Message()
                     << table->name << " " << kind.name << " columns " << columns);
        const TestMatrix matrix({rows, cols, kind.type, kind.group, kind.minima}, 3);
        const Input input(*table, cols, columns, 0, kind.group);
        const std::vector<float> bias = Numbers(7).uniform(rows, 1.0f);
        const std::vector<float> whole = product(*table, matrix.view, input.activations, bias);
        std::vector<float> got(list.size() * columns);
        matmul_rows(*table, {&matrix.view, &input.activations, bias, got, list.size()}, list);
        for (std::size_t c = 0; c < columns; ++c) {
          for (std::size_t i = 0; i < list.size(); ++i) {
            ASSERT_EQ(got[c * list.size() + i], whole[c * rows + list[i]]) << i;
          }
        }
        matmul_rows(*table, {&matrix.view, &input.activations, bias, got, list.size()}, {});
      }
    }
  }
}

TEST(Matmul, ThreadsGiveTheSameBits) {
  ThreadPool pool(3);
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const TestMatrix first({1100, 200, kind.type, kind.group, kind.minima}, 1);
    const TestMatrix second({333, 200, kind.type, kind.group, kind.minima}, 2);
    const Input input(best_kernels(), 200, 2, 0, kind.group);
    std::vector<float> a(2 * 1100);
    std::vector<float> b(2 * 333);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const MatmulJob jobs[] = {{&first.view, &input.activations, {}, a, 1100},
                                {&second.view, &input.activations, {}, b, 333}};
      matmul(best_kernels(), pool, jobs);
      ASSERT_EQ(a, product(best_kernels(), first.view, input.activations, {}));
      ASSERT_EQ(b, product(best_kernels(), second.view, input.activations, {}));
    }
  }
}

// The largest codes and activations of one sign: 16-bit sums inside a kernel must not saturate.
TEST(Matmul, ExtremeCodesDoNotSaturate) {
  for (const Kernels* table : available_kernels()) {
    for (const Kind& kind : kKinds) {
      for (const float sign : {1.0f, -1.0f}) {
        for (const float x_sign : {1.0f, -1.0f}) {
          SCOPED_TRACE(testing::Message()
                       << table->name << " " << kind.name << " " << sign << " " << x_sign);
          const PackedShape shape{16, 256, kind.type, kind.group, kind.minima};
          AlignedBytes bytes(packed_size_bytes(shape));
          std::vector<float> weights(16 * 256, 0.5f * sign);
          weights[17] = -0.5f * sign;  // a group with both ends
          ASSERT_TRUE(pack(shape, weights, bytes.span()).has_value());
          const PackedMatrix view = view_packed(shape, bytes.span()).value();
          const std::vector<float> x(256, x_sign);
          Activations activations(256, 1);
          activations.set(*table, x, kind.group);
          const std::vector<float> got = product(*table, view, activations, {});
          EXPECT_EQ(got, product(scalar_kernels(), view, activations, {}));
          EXPECT_NEAR(got[15], 128.0f * sign * x_sign, 9.0f);  // int4 may clip +8 to +7
        }
      }
    }
  }
}

// Whatever bytes a file holds, the answer may be nonsense but every access stays inside (run under
// ASan), and tables that the format allows to differ (code 0 in int8) stay finite.
TEST(Matmul, AnyBytesAreSafe) {
  for (const Kernels* table : available_kernels()) {
    for (const Kind& kind : kKinds) {
      const PackedShape shape{33, 70, kind.type, kind.group, kind.minima};
      AlignedBytes bytes(packed_size_bytes(shape));
      Numbers numbers(77);
      for (std::byte& b : bytes.span()) b = static_cast<std::byte>(numbers.bits());
      const PackedMatrix view = view_packed(shape, bytes.span()).value();
      const Input input(*table, 70, 5, 0, kind.group);
      EXPECT_EQ(product(*table, view, input.activations, {}).size(), 33u * 5u);
    }
  }
}

TEST(Matmul, NonFiniteInputsShowInTheOutput) {
  for (const Kernels* table : available_kernels()) {
    for (const Kind& kind : kKinds) {
      for (const float bad :
           {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        SCOPED_TRACE(testing::Message() << table->name << " " << kind.name << " " << bad);
        const TestMatrix matrix({16, 64, kind.type, kind.group, kind.minima}, 4);
        std::vector<float> x = Numbers(5).normal(64, 1.0f);
        x[40] = bad;
        Activations activations(64, 1);
        activations.set(*table, x, kind.group);
        EXPECT_FALSE(all_finite(*table, product(*table, matrix.view, activations, {})));
      }
    }
  }
}

TEST(Activations, EveryTableQuantisesToTheSameBits) {
  for (const Kernels* table : available_kernels()) {
    for (const std::size_t group : {32u, 64u, 128u}) {
      for (std::size_t length = 1; length <= 140; length += length < 70 ? 1 : 7) {
        for (const std::size_t columns : {1u, 3u}) {
          SCOPED_TRACE(testing::Message()
                       << table->name << " group " << group << " length " << length);
          const Input want(scalar_kernels(), length, columns, 1, group);
          const Input got(*table, length, columns, 1, group);
          const ActivationView& w = want.activations.view();
          const ActivationView& g = got.activations.view();
          const std::size_t groups = (length + group - 1) / group;
          for (std::size_t i = 0; i < groups * group * columns; ++i)
            ASSERT_EQ(g.codes[i], w.codes[i]) << i;
          for (std::size_t i = 0; i < groups * columns; ++i) {
            ASSERT_EQ(g.scales[i], w.scales[i]);
            ASSERT_EQ(g.sums[i], w.sums[i]);
          }
        }
      }
    }
  }
}

TEST(Activations, PutTellsWhetherAllIsFinite) {
  for (const Kernels* table : available_kernels()) {
    for (const std::size_t group : {32u, 64u, 128u}) {
      std::vector<float> x(150, 3e38f);  // one whole group or more, and a rest
      Activations activations(x.size(), 2);
      activations.begin(*table, {x.data(), x.size()}, x.size(), 1, x.size(), group);
      EXPECT_TRUE(activations.put(*table, 0, 0, x)) << table->name;
      for (std::size_t i = 0; i < x.size(); i += 7) {
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
          std::vector<float> damaged = x;
          damaged[i] = bad;
          EXPECT_FALSE(activations.put(*table, 0, 0, damaged)) << table->name << " at " << i;
        }
      }
    }
  }
}

TEST(Activations, ZeroAndTinyVectorsBecomeZero) {
  for (const Kernels* table : available_kernels()) {
    std::vector<float> x(64, 0.0f);
    x[3] = 1e-38f;
    Activations activations(64, 1);
    activations.set(*table, x, 32);
    for (int g = 0; g < 2; ++g) {
      EXPECT_EQ(activations.view().scales[g], 0.0f) << table->name;
      EXPECT_EQ(activations.view().sums[g], 0) << table->name;
    }
  }
}

TEST(DequantizeRow, IsTheRowOfUnpack) {
  for (const Kind& kind : kKinds) {
    const TestMatrix matrix({37, 150, kind.type, kind.group, kind.minima}, 8);
    std::vector<float> all(37 * 150);
    ASSERT_TRUE(unpack(matrix.view, all).has_value());
    for (const Kernels* table : available_kernels()) {
      for (const std::size_t row : {0u, 15u, 16u, 36u}) {
        std::vector<float> one(150);
        dequantize_row(*table, matrix.view, row, one);
        EXPECT_EQ(one,
                  std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(row * 150),
                                     all.begin() + static_cast<std::ptrdiff_t>(row * 150 + 150)))
            << table->name << " " << kind.name << " " << row;
      }
    }
  }
}

}  // namespace
}  // namespace laya::simd

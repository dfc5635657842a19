// Every table the CPU has against the scalar one: all lengths from 0 past two vectors, starts off
// alignment.
#include "simd/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "simd/test_data.h"

namespace laya::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kLongest = 70;  // twice the 32 floats of the widest step, and a rest

// |got - want| <= relative * |want| + absolute.
void expect_near(std::span<const float> got, std::span<const float> want, float relative,
                 float absolute) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << "index " << i;
    } else if (std::isinf(want[i])) {
      EXPECT_EQ(got[i], want[i]) << "index " << i;
    } else {
      EXPECT_LE(std::fabs(got[i] - want[i]), relative * std::fabs(want[i]) + absolute)
          << "index " << i << " got " << got[i] << " want " << want[i];
    }
  }
}

// For each table, length and misalignment: x has n numbers, and both results must be near. Guards
// catch writes past the end.
template <typename Operation>
void compare_with_scalar(Operation operation, float scale, float relative, float absolute) {
  for (const Kernels* table : available_kernels()) {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      for (const std::size_t shift : {0u, 1u, 5u}) {
        SCOPED_TRACE(testing::Message() << table->name << " n " << n << " shift " << shift);
        const std::vector<float> all = Numbers(n * 7 + shift).uniform(n + shift, scale);
        const std::span<const float> x = std::span(all).subspan(shift);
        std::vector<float> want(n);
        std::vector<float> got(n + shift + 1, 77.0f);
        operation(scalar_kernels(), x, std::span(want));
        operation(*table, x, std::span(got).subspan(shift, n));
        expect_near(std::span(got).subspan(shift, n), want, relative, absolute);
        EXPECT_EQ(got.back(), 77.0f);
      }
    }
  }
}

TEST(Kernels, ListBeginsWithScalarAndEndsWithTheBest) {
  ASSERT_FALSE(available_kernels().empty());
  EXPECT_EQ(available_kernels().front(), &scalar_kernels());
  EXPECT_EQ(available_kernels().back(), &best_kernels());
  EXPECT_EQ(find_kernels("scalar"), &scalar_kernels());
  EXPECT_EQ(find_kernels("no such"), nullptr);
}

TEST(Ops, ExpSigmoidTanhMatchTheLibrary) {
  for (const float scale : {0.01f, 1.0f, 20.0f, 120.0f}) {
    compare_with_scalar([](const Kernels& k, auto x, auto out) { exp(k, x, out); }, scale, 1e-6f,
                        1e-37f);
    compare_with_scalar([](const Kernels& k, auto x, auto out) { sigmoid(k, x, out); }, scale,
                        1e-6f, 1e-37f);
    compare_with_scalar([](const Kernels& k, auto x, auto out) { tanh(k, x, out); }, scale, 1e-6f,
                        1e-37f);
  }
}

TEST(Ops, ExpSigmoidTanhTakeEverySpecialValue) {
  const std::vector<float> x = {0.0f,      -0.0f,  kInfinity, -kInfinity, kNan,    88.7f,
                                88.8f,     1e30f,  -1e30f,    -87.0f,     -103.0f, -104.5f,
                                0x1p-149f, 0.625f, -0.625f,   9.1f};
  for (const Kernels* table : available_kernels()) {
    SCOPED_TRACE(table->name);
    std::vector<float> want(x.size());
    std::vector<float> got(x.size());
    exp(scalar_kernels(), x, want);
    exp(*table, x, got);
    expect_near(got, want, 1e-6f, 1e-38f);
    sigmoid(scalar_kernels(), x, want);
    sigmoid(*table, x, got);
    expect_near(got, want, 1e-6f, 1e-37f);
    tanh(scalar_kernels(), x, want);
    tanh(*table, x, got);
    expect_near(got, want, 1e-6f, 0.0f);
  }
}

TEST(Ops, RmsNormMatches) {
  compare_with_scalar(
      [](const Kernels& k, std::span<const float> x, std::span<float> out) {
        const std::vector<float> weight = Numbers(9).uniform(x.size(), 1.0f);
        rms_norm(k, x, weight, 1e-5f, out);
      },
      3.0f, 2e-6f, 1e-7f);
}

TEST(Ops, SoftmaxMatchesAndSumsToOne) {
  compare_with_scalar([](const Kernels& k, auto x, auto out) { softmax(k, x, out); }, 15.0f, 2e-6f,
                      1e-30f);
  for (const Kernels* table : available_kernels()) {
    std::vector<float> x = Numbers(1).uniform(1000, 30.0f);
    softmax(*table, x, x);  // in place
    double total = 0;
    for (const float p : x) total += p;
    EXPECT_NEAR(total, 1.0, 1e-5) << table->name;
    std::vector<float> lost(40, -kInfinity);
    softmax(*table, lost, lost);
    for (const float p : lost) EXPECT_FLOAT_EQ(p, 1.0f / 40.0f) << table->name;
    std::vector<float> one = {-kInfinity, 3.0f, -kInfinity};
    softmax(*table, one, one);
    EXPECT_EQ(one, (std::vector<float>{0.0f, 1.0f, 0.0f})) << table->name;
  }
}

TEST(Ops, LogSumExpMatches) {
  for (const Kernels* table : available_kernels()) {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      const std::vector<float> x = Numbers(n).uniform(n, 50.0f);
      const float want = log_sum_exp(scalar_kernels(), x);
      const float got = log_sum_exp(*table, x);
      if (n == 0) {
        EXPECT_EQ(got, -kInfinity);
      } else {
        EXPECT_NEAR(got, want, 1e-6f * std::fabs(want) + 1e-6f) << table->name << " n " << n;
      }
    }
    EXPECT_EQ(log_sum_exp(*table, std::vector<float>(20, -kInfinity)), -kInfinity);
    EXPECT_EQ(log_sum_exp(*table, std::vector<float>{1.0f, kInfinity}), kInfinity);
    EXPECT_TRUE(std::isnan(log_sum_exp(*table, std::vector<float>{1.0f, kNan, 2.0f})));
  }
}

TEST(Ops, TopKIsASortByValueThenIndex) {
  for (const Kernels* table : available_kernels()) {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      for (const std::size_t k : {0u, 1u, 3u, 16u, 69u, 256u}) {
        SCOPED_TRACE(testing::Message() << table->name << " n " << n << " k " << k);
        Numbers numbers(n);
        std::vector<float> x(n);
        // Few distinct values, so that ties are common; some NaN, some infinite.
        for (float& v : x) v = static_cast<float>(numbers.below(9));
        if (n > 4) x[n / 2] = kNan;
        if (n > 9) x[n / 3] = -kInfinity;
        std::vector<std::uint32_t> order;
        for (std::uint32_t i = 0; i < n; ++i) {
          if (!std::isnan(x[i])) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&x](auto a, auto b) { return x[a] > x[b]; });
        order.resize(std::min(order.size(), k));
        std::vector<std::uint32_t> indices(k);
        std::vector<float> values(k);
        const std::size_t count = top_k(*table, x, indices, values);
        ASSERT_EQ(count, order.size());
        indices.resize(count);
        EXPECT_EQ(indices, order);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(values[i], x[order[i]]);
      }
    }
  }
}

TEST(Ops, TopKOfRisingValuesTakesTheLast) {
  std::vector<float> x(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (const Kernels* table : available_kernels()) {
    std::vector<std::uint32_t> indices(5);
    std::vector<float> values(5);
    ASSERT_EQ(top_k(*table, x, indices, values), 5u);
    EXPECT_EQ(indices, (std::vector<std::uint32_t>{999, 998, 997, 996, 995})) << table->name;
  }
}

TEST(Ops, RmsNormRowsIsRmsNormOfEachRow) {
  for (const Kernels* table : available_kernels()) {
    const std::vector<float> x = Numbers(2).uniform(5 * 24, 2.0f);
    const std::vector<float> weight = Numbers(3).uniform(24, 1.0f);
    std::vector<float> got(x.size()), one(24);
    rms_norm_rows(*table, x, weight, 1e-6f, got);
    for (std::size_t r = 0; r < 5; ++r) {
      rms_norm(*table, std::span(x).subspan(r * 24, 24), weight, 1e-6f, one);
      EXPECT_TRUE(std::equal(one.begin(), one.end(), got.begin() + static_cast<long>(r * 24)));
    }
  }
}

TEST(Ops, RopeRotatesTheHalvesOfEachHead) {
  for (const Kernels* table : available_kernels()) {
    for (const std::size_t half : {1u, 8u, 16u, 24u, 32u, 40u, 128u}) {
      SCOPED_TRACE(testing::Message() << table->name << " half " << half);
      std::vector<float> cosines(half), sines(half);
      for (std::size_t i = 0; i < half; ++i) {
        const double angle =
            37.0 * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
        cosines[i] = static_cast<float>(std::cos(angle));
        sines[i] = static_cast<float>(std::sin(angle));
      }
      const std::vector<float> x = Numbers(half).uniform(3 * 2 * half + 1, 2.0f);
      std::vector<float> got = x;
      rope(*table, std::span(got).first(3 * 2 * half), cosines, sines);
      EXPECT_EQ(got.back(), x.back());
      for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t i = 0; i < half; ++i) {
          const std::size_t at = h * 2 * half + i;
          const double a = x[at], b = x[at + half], c = cosines[i], s = sines[i];
          EXPECT_NEAR(got[at], a * c - b * s, 4e-7);
          EXPECT_NEAR(got[at + half], b * c + a * s, 4e-7);
        }
      }
    }
  }
}

TEST(Ops, GatesMatchTheScalarOnes) {
  const auto with_up = [](auto gate_function) {
    return [gate_function](const Kernels& k, std::span<const float> x, std::span<float> out) {
      gate_function(k, x, Numbers(x.size()).uniform(x.size(), 2.0f), out);
    };
  };
  for (const float scale : {0.1f, 3.0f, 12.0f}) {
    compare_with_scalar(with_up([](auto&&... a) { silu_gate(a...); }), scale, 1e-6f, 1e-37f);
    compare_with_scalar(with_up([](auto&&... a) { gelu_gate(a...); }), scale, 1e-5f, 1e-12f);
  }
}

// Against the formulas in double: near the origin to 1e-6 of the value, in the tail to 1e-6 of 1.
TEST(Ops, GatesAreTheFormulas) {
  std::vector<float> gate, up;
  for (float g = -30.0f; g <= 30.0f; g += 0.0625f) gate.push_back(g);
  for (const float g : {0.0f, -0.0f, 1e-30f, -1e-6f, -200.0f, 200.0f, 1e20f}) gate.push_back(g);
  up.assign(gate.size(), 1.0f);
  for (const Kernels* table : available_kernels()) {
    std::vector<float> silu(gate.size()), gelu = gate;
    silu_gate(*table, gate, up, silu);
    gelu_gate(*table, gelu, up, gelu);  // in place
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const double g = gate[i];
      const double y = std::sqrt(2.0 / std::acos(-1.0)) * (g + 0.044715 * g * g * g);
      const double want_silu = g / (1.0 + std::exp(-g));
      const double want_gelu = g / (1.0 + std::exp(-2.0 * y));
      EXPECT_NEAR(silu[i], want_silu, 1e-6 * std::fabs(want_silu) + 1e-9) << table->name << g;
      EXPECT_NEAR(gelu[i], want_gelu, 1e-6 * std::fabs(want_gelu) + 1e-7) << table->name << g;
    }
  }
}

TEST(Ops, GruGatesMatch) {
  compare_with_scalar(
      [](const Kernels& k, std::span<const float> x, std::span<float> out) {
        Numbers numbers(x.size());
        const std::vector<float> gi = numbers.uniform(3 * x.size(), 4.0f);
        const std::vector<float> gh = numbers.uniform(3 * x.size(), 4.0f);
        gru_gates(k, gi, gh, x, out);
      },
      1.0f, 1e-6f, 1e-6f);
}

TEST(Ops, GruGatesMayWriteOverTheState) {
  Numbers numbers(4);
  const std::vector<float> gi = numbers.uniform(3 * 37, 2.0f);
  const std::vector<float> gh = numbers.uniform(3 * 37, 2.0f);
  const std::vector<float> h = numbers.uniform(37, 1.0f);
  for (const Kernels* table : available_kernels()) {
    std::vector<float> apart(37);
    std::vector<float> over = h;
    gru_gates(*table, gi, gh, h, apart);
    gru_gates(*table, gi, gh, over, over);
    EXPECT_EQ(over, apart) << table->name;
  }
}

TEST(Ops, WindowAttentionMatchesForEveryFillOfTheRing) {
  for (const Kernels* table : available_kernels()) {
    for (const std::size_t head_dim : {1u, 8u, 16u, 20u, 32u, 72u}) {
      for (const std::size_t window : {1u, 5u, 17u}) {
        for (std::size_t count = 1; count <= window; ++count) {
          SCOPED_TRACE(testing::Message() << table->name << " dim " << head_dim << " window "
                                          << window << " count " << count);
          constexpr std::size_t kHeads = 3;
          Numbers numbers(head_dim * 100 + window);
          const std::size_t width = kHeads * head_dim;
          const std::vector<float> query = numbers.uniform(width, 2.0f);
          const std::vector<float> keys = numbers.uniform(window * width, 2.0f);
          const std::vector<float> values = numbers.uniform(window * width, 2.0f);
          const std::vector<float> bias = numbers.uniform(kHeads * window, 1.0f);
          std::vector<float> want(width);
          std::vector<float> got(width);
          WindowAttentionArgs args{kHeads,      head_dim,     window,      (count * 3) % window,
                                   count,       query.data(), keys.data(), values.data(),
                                   bias.data(), want.data()};
          window_attention(scalar_kernels(), args);
          args.out = got.data();
          window_attention(*table, args);
          expect_near(got, want, 2e-6f, 4e-6f);
        }
      }
    }
  }
}

TEST(Ops, AttentionToOneTokenIsItsValue) {
  const std::vector<float> query = {1.0f, 2.0f};
  const std::vector<float> keys = {9.0f, 9.0f, 3.0f, 4.0f};
  const std::vector<float> values = {
      kNan, kNan, 5.0f, 6.0f};  // slot 0 is not present and must not be read into the result
  const std::vector<float> bias = {0.5f, 100.0f};
  for (const Kernels* table : available_kernels()) {
    std::vector<float> out(2);
    window_attention(
        *table, {1, 2, 2, 1, 1, query.data(), keys.data(), values.data(), bias.data(), out.data()});
    EXPECT_EQ(out, (std::vector<float>{5.0f, 6.0f})) << table->name;
  }
}

TEST(Ops, AddMatches) {
  compare_with_scalar(
      [](const Kernels& k, std::span<const float> x, std::span<float> out) {
        std::fill(out.begin(), out.end(), 0.25f);
        add(k, x, out);
      },
      1.0f, 0.0f, 0.0f);
}

TEST(Ops, ScaleMatches) {
  compare_with_scalar(
      [](const Kernels& k, std::span<const float> x, std::span<float> out) {
        std::ranges::copy(x, out.begin());
        scale(k, out, 0.3f);
      },
      1.0f, 0.0f, 0.0f);
}

TEST(Ops, AllFiniteSeesEveryPlace) {
  for (const Kernels* table : available_kernels()) {
    for (std::size_t n = 0; n <= kLongest; ++n) {
      std::vector<float> x(n, 3.4e38f);
      EXPECT_TRUE(all_finite(*table, x)) << table->name << " n " << n;
      for (std::size_t i = 0; i < n; ++i) {
        for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
          x[i] = bad;
          EXPECT_FALSE(all_finite(*table, x)) << table->name << " n " << n << " at " << i;
        }
        x[i] = -3.4e38f;
      }
    }
  }
}

TEST(Ops, StreamReadGivesTheSameChecksum) {
  AlignedBytes bytes(3000);
  Numbers numbers(8);
  for (std::byte& b : bytes.span()) b = static_cast<std::byte>(numbers.bits());
  for (const Kernels* table : available_kernels()) {
    for (std::size_t size = 0; size < 3000; size += size < 200 ? 1 : 97) {
      EXPECT_EQ(stream_read(*table, bytes.span().first(size)),
                stream_read(scalar_kernels(), bytes.span().first(size)))
          << table->name << " " << size;
    }
  }
}

// FNV-1a over the bits.
std::uint64_t fingerprint(std::span<const float> values) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const float value : values) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; ++i) hash = (hash ^ (bits >> (8 * i) & 255u)) * 0x100000001B3u;
  }
  return hash;
}

// The fast tables add in the same order, so golden vectors made on one CPU hold on another: the
// constant was computed with avx512-vnni and is what NEON gives. A change of a formula changes it:
// print `hash` and say so in the commit.
TEST(Ops, FastTablesHaveTheSameBitsOnEveryCpu) {
  constexpr std::uint64_t kWant = 11831210130875700876u;
  const std::vector<float> x = Numbers(2).uniform(1003, 6.0f);
  const std::vector<float> weight = Numbers(3).uniform(1003, 1.0f);
  const std::vector<float> gates = Numbers(4).uniform(3 * 1003, 3.0f);
  for (const Kernels* k : available_kernels().subspan(1)) {
    std::vector<float> all;
    std::vector<float> out(x.size());
    const auto keep = [&] { all.insert(all.end(), out.begin(), out.end()); };
    rms_norm(*k, x, weight, 1e-5f, out), keep();
    softmax(*k, x, out), keep();
    exp(*k, x, out), keep();
    sigmoid(*k, x, out), keep();
    tanh(*k, x, out), keep();
    gru_gates(*k, gates, gates, x, out), keep();
    window_attention(
        *k, {3, 20, 5, 1, 5, x.data(), gates.data(), gates.data() + 7, weight.data(), out.data()}),
        keep();
    EXPECT_EQ(fingerprint(all), kWant) << k->name;
  }
}

}  // namespace
}  // namespace laya::simd

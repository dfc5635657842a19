// Each operation against the same thing written with MLX's plain ops: values and all gradients.
#include "train/mlx/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>

#include "mlx/ops.h"
#include "mlx/transforms.h"
#include "train/gru/sampler.h"

namespace laya::train {
namespace {

using Arrays = std::vector<mx::array>;
using Function = std::function<mx::array(const Arrays&)>;

mx::array random(const mx::Shape& shape, unsigned seed, float scale = 1.0F) {
  std::mt19937 generator(seed);
  std::size_t size = 1;
  for (const int n : shape) size *= static_cast<std::size_t>(n);
  std::vector<float> values(size);
  for (float& v : values) v = scale * (static_cast<float>(generator() >> 8) * 0x1.0p-23F - 1.0F);
  return mx::array(values.begin(), shape, mx::float32);
}

mx::array mask(std::vector<std::uint8_t> values, const mx::Shape& shape) {
  return mx::array(values.begin(), shape, mx::uint8);
}
mx::array ints(const std::vector<std::int32_t>& values) {
  return mx::array(values.begin(), {static_cast<int>(values.size())}, mx::int32);
}

// Largest difference relative to the largest expected magnitude.
float distance(const mx::array& expected, const mx::array& actual) {
  EXPECT_EQ(expected.shape(), actual.shape());
  const auto gap = mx::max(mx::abs(mx::subtract(expected, actual))).item<float>();
  const auto size = mx::max(mx::abs(expected)).item<float>();
  return gap / std::max(size, 1e-6F);
}

// Compares value and gradients of two functions of `inputs`; the value is contracted with fixed
// random weights first.
void expect_same(const Function& plain, const Function& fused, const Arrays& inputs,
                 float tolerance) {
  const auto value = plain(inputs);
  EXPECT_LT(distance(value, fused(inputs)), tolerance);
  const auto weights = random(value.shape(), 99);
  std::vector<int> all(inputs.size());
  std::iota(all.begin(), all.end(), 0);
  const auto gradients = [&](const Function& f) {
    return mx::grad([&](const Arrays& x) { return mx::sum(mx::multiply(f(x), weights)); },
                    all)(inputs);
  };
  const auto expected = gradients(plain);
  const auto actual = gradients(fused);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_LT(distance(expected[i], actual[i]), tolerance) << "gradient of input " << i;
  }
}

struct Case {
  Precision precision;
  float tolerance;
};
class EachPrecision : public testing::TestWithParam<Case> {
 protected:
  // Here, not in a helper that a test calls: a skip ends only the function that it stands in.
  void SetUp() override {
    if (GetParam().precision == Precision::Bf16 && best_precision() != Precision::Bf16) {
      GTEST_SKIP() << "this CPU has no bf16";
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Train, EachPrecision,
                         testing::Values(Case{Precision::Fp32, 2e-5F},
                                         Case{Precision::Bf16, 3e-2F}),
                         [](const auto& each) {
                           return each.param.precision == Precision::Fp32 ? "Fp32" : "Bf16";
                         });

mx::array plain_linear(const mx::array& x, const mx::array& w) {
  return mx::matmul(x, mx::transpose(w));
}

TEST_P(EachPrecision, LinearEqualsMatmul) {
  const Arrays inputs{random({3, 7, 48}, 1), random({37, 48}, 2), random({37}, 3)};
  expect_same([](const Arrays& a) { return mx::add(plain_linear(a[0], a[1]), a[2]); },
              [&](const Arrays& a) { return linear(a[0], a[1], a[2], GetParam().precision); },
              inputs, GetParam().tolerance);
  expect_same([](const Arrays& a) { return plain_linear(a[0], a[1]); },
              [&](const Arrays& a) { return linear(a[0], a[1], GetParam().precision); },
              {inputs[0], inputs[1]}, GetParam().tolerance);
}

TEST(Linear, AcceptsInputsThatAreNotContiguous) {
  const Arrays inputs{random({48, 21}, 1), random({48, 37}, 2)};
  expect_same([](const Arrays& a) { return mx::matmul(mx::transpose(a[0]), a[1]); },
              [&](const Arrays& a) {
                return linear(mx::transpose(a[0]), mx::transpose(a[1]), Precision::Fp32);
              },
              inputs, 2e-5F);
}

mx::array plain_norm(const mx::array& x, const mx::array& w) {
  const auto mean = mx::mean(mx::square(x), -1, true);
  return mx::multiply(mx::multiply(x, mx::rsqrt(mx::add(mean, mx::array(1e-5F)))), w);
}

TEST(RmsNorm, EqualsTheFormula) {
  const Arrays inputs{random({5, 3, 64}, 1), random({64}, 2)};
  expect_same([](const Arrays& a) { return plain_norm(a[0], a[1]); },
              [](const Arrays& a) { return rms_norm(a[0], a[1], 1e-5F); }, inputs, 2e-5F);
}

TEST(AddRmsNorm, GivesSumAndNormAndSendsBothGradientsBack) {
  const Arrays inputs{random({5, 3, 64}, 1), random({5, 3, 64}, 2), random({64}, 3)};
  expect_same(
      [](const Arrays& a) {
        const auto sum = mx::add(a[0], a[1]);
        return mx::add(mx::multiply(sum, mx::array(0.7F)), plain_norm(sum, a[2]));
      },
      [](const Arrays& a) {
        const auto both = add_rms_norm(a[0], a[1], a[2], 1e-5F);
        return mx::add(mx::multiply(both.sum, mx::array(0.7F)), both.normed);
      },
      inputs, 2e-5F);
}

TEST(EmbeddingLookup, TakesRowsAndAddsUpRepeatedGradients) {
  const auto ids = ints({3, 0, 3, 8, 3, 1});
  expect_same([&](const Arrays& a) { return mx::take(a[0], ids, 0); },
              [&](const Arrays& a) { return embedding_lookup(a[0], ids); }, {random({9, 20}, 1)},
              1e-6F);
}

TEST(EmbeddingLookup, GivesZeroForIdsOutsideTheTable) {
  const auto out = embedding_lookup(random({9, 20}, 1), ints({-1, 9, 1 << 30}));
  EXPECT_EQ(mx::max(mx::abs(out)).item<float>(), 0.0F);
}

TEST(Dropout, KeepsTheMeanAndRepeatsItsMask) {
  const auto x = mx::ones({1000, 37});
  const auto once = dropout(x, 0.25F, 7);
  EXPECT_NEAR(mx::mean(once).item<float>(), 1.0F, 0.02F);
  EXPECT_NEAR(mx::mean(mx::equal(once, mx::array(0.0F))).item<float>(), 0.25F, 0.01F);
  EXPECT_TRUE(mx::array_equal(once, dropout(x, 0.25F, 7)).item<bool>());
  EXPECT_FALSE(mx::array_equal(once, dropout(x, 0.25F, 8)).item<bool>());
  const auto gradient =
      mx::grad([](const mx::array& a) { return mx::sum(dropout(a, 0.25F, 7)); })(x);
  EXPECT_TRUE(mx::array_equal(once, gradient).item<bool>())
      << "the backward pass must use the forward pass's mask";
}

mx::array plain_gru(const Arrays& a, const mx::array& reset) {
  const int steps = a[0].shape(0);
  const int batch = a[0].shape(1);
  const int d = a[1].shape(1);
  auto h = a[1];
  Arrays all;
  for (int t = 0; t < steps; ++t) {
    const auto row = mx::reshape(mx::slice(reset, {t, 0}, {t + 1, batch}), {batch, 1});
    h = mx::where(mx::equal(row, mx::array(0, mx::uint8)), h, mx::array(0.0F));
    const auto gi = mx::reshape(mx::slice(a[0], {t, 0, 0}, {t + 1, batch, 3 * d}), {batch, 3 * d});
    const auto gh = mx::add(plain_linear(h, a[2]), a[3]);
    const auto part = [&](const mx::array& x, int i) {
      return mx::slice(x, {0, i * d}, {batch, (i + 1) * d});
    };
    const auto r = mx::sigmoid(mx::add(part(gi, 0), part(gh, 0)));
    const auto z = mx::sigmoid(mx::add(part(gi, 1), part(gh, 1)));
    const auto c = mx::tanh(mx::add(part(gi, 2), mx::multiply(r, part(gh, 2))));
    h = mx::add(c, mx::multiply(z, mx::subtract(h, c)));
    all.push_back(h);
  }
  return mx::stack(all);
}

TEST_P(EachPrecision, GruEqualsTheRecurrenceWithResets) {
  for (const int batch : {1, 3, 4}) {
    std::vector<std::uint8_t> resets(static_cast<std::size_t>(6 * batch), 0);
    resets[0] = 1;
    resets.back() = 1;
    resets[static_cast<std::size_t>(3 * batch)] = 1;
    const auto reset = mask(resets, {6, batch});
    const Arrays inputs{random({6, batch, 96}, 1, 2.0F), random({batch, 32}, 2),
                        random({96, 32}, 3, 0.5F), random({96}, 4)};
    expect_same([&](const Arrays& a) { return plain_gru(a, reset); },
                [&](const Arrays& a) {
                  return gru_sequence(a[0], a[1], a[2], a[3], reset, GetParam().precision);
                },
                inputs, GetParam().tolerance);
  }
}

// Dense attention with an explicit visibility mask over past and present.
mx::array plain_attention(const mx::array& qkv, const mx::array& past,
                          const std::vector<int>& history, const std::vector<std::uint8_t>& reset,
                          const mx::array& bias) {
  const int steps = qkv.shape(0), batch = qkv.shape(1), heads = bias.shape(0),
            window = bias.shape(1);
  const int width = qkv.shape(2) / 3, k = width / heads, before = window - 1;
  const auto q = mx::slice(qkv, {0, 0, 0}, {steps, batch, width});
  const auto kv =
      mx::concatenate({past, mx::slice(qkv, {0, 0, width}, {steps, batch, 3 * width})}, 0);
  Arrays rows;
  for (int t = 0; t < steps; ++t) {
    for (int b = 0; b < batch; ++b) {
      int seen = history[static_cast<std::size_t>(b)];
      for (int i = 0; i <= t; ++i)
        seen = reset[static_cast<std::size_t>(i * batch + b)] != 0 ? 0 : (i == 0 ? seen : seen + 1);
      const int count = std::min(seen, window - 1) + 1;
      for (int h = 0; h < heads; ++h) {
        const auto query =
            mx::reshape(mx::slice(q, {t, b, h * k}, {t + 1, b + 1, (h + 1) * k}), {1, k});
        const int newest = before + t;
        const auto slab = [&](int offset) {
          return mx::reshape(mx::slice(kv, {newest - count + 1, b, offset + h * k},
                                       {newest + 1, b + 1, offset + (h + 1) * k}),
                             {count, k});
        };
        std::vector<int> order;
        for (int j = count - 1; j >= 0; --j) order.push_back(j);
        const auto row_bias = mx::take(
            mx::reshape(mx::slice(bias, {h, 0}, {h + 1, window}), {window}), ints(order), 0);
        auto scores = mx::divide(mx::matmul(query, mx::transpose(slab(0))),
                                 mx::array(std::sqrt(static_cast<float>(k))));
        scores = mx::add(scores, mx::reshape(row_bias, {1, count}));
        rows.push_back(mx::matmul(mx::softmax(scores, -1), slab(width)));
      }
    }
  }
  return mx::reshape(mx::concatenate(rows, 0), {steps, batch, width});
}

TEST(LocalAttention, EqualsMaskedAttentionAcrossChunksAndResets) {
  const std::vector<int> history{0, 2, 4};
  const std::vector<std::uint8_t> resets{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                         1, 0, 0, 0, 0, 0, 0, 0, 1, 0};
  const auto reset = mask(resets, {7, 3});
  const auto past = random({4, 3, 2 * 64}, 5);
  expect_same(
      [&](const Arrays& a) { return plain_attention(a[0], past, history, resets, a[1]); },
      [&](const Arrays& a) { return local_attention(a[0], past, ints(history), reset, a[1]).out; },
      {random({7, 3, 3 * 64}, 1, 2.0F), random({2, 5}, 2)}, 2e-5F);
}

TEST(LocalAttention, TwoChunksEqualOne) {
  const auto qkv = random({9, 2, 3 * 32}, 1, 2.0F);
  const auto bias = random({2, 5}, 2);
  std::vector<std::uint8_t> resets(18, 0);
  resets[0] = 1;
  resets[7] = 1;
  const auto reset = mask(resets, {9, 2});
  const auto start = mx::zeros({4, 2, 64});
  const auto whole = local_attention(qkv, start, ints({0, 0}), reset, bias);
  for (const int cut : {1, 3, 6}) {
    const auto piece = [&](const mx::array& x, int from, int to) {
      auto low = mx::Shape(x.shape());
      auto high = mx::Shape(x.shape());
      for (int& i : low) i = 0;
      low[0] = from;
      high[0] = to;
      return mx::slice(x, low, high);
    };
    const auto first =
        local_attention(piece(qkv, 0, cut), start, ints({0, 0}), piece(reset, 0, cut), bias);
    const auto second = local_attention(piece(qkv, cut, 9), first.next_kv, first.next_history,
                                        piece(reset, cut, 9), bias);
    EXPECT_EQ(distance(whole.out, mx::concatenate({first.out, second.out}, 0)), 0.0F)
        << "cut " << cut;
    EXPECT_TRUE(mx::array_equal(whole.next_kv, second.next_kv).item<bool>());
    EXPECT_TRUE(mx::array_equal(whole.next_history, second.next_history).item<bool>());
  }
}

mx::array plain_nll(const Arrays& a, const mx::array& targets) {
  const auto logits = mx::add(plain_linear(a[0], a[1]), a[2]);
  const auto hit = mx::take_along_axis(logits, mx::reshape(targets, {-1, 1}), 1);
  return mx::subtract(mx::logsumexp(logits, -1), mx::reshape(hit, {-1}));
}

mx::array weighted_mean(const mx::array& x, const mx::array& weights) {
  return mx::divide(mx::sum(mx::multiply(x, weights)), mx::sum(weights));
}

struct HeadData {
  explicit HeadData(int n, int v)
      : tokens(n), vocabulary(v), inputs{random({n, 32}, 1), random({v, 32}, 2), random({v}, 3)} {
    std::mt19937 generator(5);
    for (int i = 0; i < n; ++i)
      ids.push_back(static_cast<std::int32_t>(generator() % static_cast<unsigned>(v)));
    for (int i = 0; i < n; ++i)
      scale.push_back(i % 5 == 0 ? 0.0F : 1.0F + static_cast<float>(i % 3));
  }
  mx::array targets() const { return ints(ids); }
  mx::array weights() const { return mx::array(scale.begin(), {tokens}, mx::float32); }
  int tokens, vocabulary;
  Arrays inputs;
  std::vector<std::int32_t> ids;
  std::vector<float> scale;
};

TEST_P(EachPrecision, FullHeadEqualsCrossEntropy) {
  for (const auto& [tokens, vocabulary] :
       {std::pair{11, 64}, std::pair{150, 53}, std::pair{1300, 96}}) {
    const HeadData data(tokens, vocabulary);
    expect_same(
        [&](const Arrays& a) {
          return weighted_mean(plain_nll(a, data.targets()), data.weights());
        },
        [&](const Arrays& a) {
          return softmax_cross_entropy(a[0], a[1], a[2], data.targets(), data.weights(),
                                       HeadPass::Train, GetParam().precision)
              .loss;
        },
        data.inputs, GetParam().tolerance);
  }
}

TEST(Head, EvaluationGivesTheSameTokenLosses) {
  const HeadData data(150, 53);
  const auto& a = data.inputs;
  const auto expected = plain_nll(a, data.targets());
  for (const auto pass : {HeadPass::Train, HeadPass::Evaluate}) {
    const auto got = softmax_cross_entropy(a[0], a[1], a[2], data.targets(), data.weights(), pass,
                                           Precision::Fp32);
    EXPECT_LT(distance(expected, got.token_nll), 1e-5F);
    EXPECT_NEAR(got.loss.item<float>(), weighted_mean(expected, data.weights()).item<float>(),
                1e-4F);
  }
}

TEST(Head, AllWeightsZeroGivesZeroLossAndGradient) {
  const HeadData data(11, 64);
  const auto gradient = mx::grad(
      [&](const Arrays& a) {
        return softmax_cross_entropy(a[0], a[1], a[2], data.targets(), mx::zeros({11}),
                                     HeadPass::Train, Precision::Fp32)
            .loss;
      },
      std::vector<int>{0, 1})(data.inputs);
  EXPECT_EQ(mx::max(mx::abs(gradient[0])).item<float>(), 0.0F);
  EXPECT_EQ(mx::max(mx::abs(gradient[1])).item<float>(), 0.0F);
}

mx::array sampled_loss(const Arrays& a, const HeadData& data, const CandidateSet& set,
                       Precision precision) {
  const mx::array log_inclusion(set.log_inclusion.begin(),
                                {static_cast<int>(set.log_inclusion.size())}, mx::float32);
  return sampled_softmax_cross_entropy(a[0], a[1], a[2], data.targets(), data.weights(),
                                       ints(set.ids), log_inclusion, precision)
      .loss;
}

TEST_P(EachPrecision, SampledHeadOverEverythingIsTheFullHead) {
  const HeadData data(150, 53);
  const std::vector<double> unigram(53, 1.0);
  const auto set = CandidateSampler(unigram, 53).sample(data.ids, 1);
  expect_same(
      [&](const Arrays& a) { return weighted_mean(plain_nll(a, data.targets()), data.weights()); },
      [&](const Arrays& a) { return sampled_loss(a, data, set, GetParam().precision); },
      data.inputs, GetParam().tolerance);
}

TEST_P(EachPrecision, SampledHeadCorrectsEveryLogitButTheOwnTarget) {
  const HeadData data(40, 200);
  const std::vector<double> unigram(200, 1.0);
  const auto set = CandidateSampler(unigram, 60, 0.75, 64).sample(data.ids, 1);
  ASSERT_EQ(set.ids.back(), -1) << "the case should hold padding";
  const auto classes = static_cast<int>(set.ids.size());
  std::vector<std::int32_t> rows, places;
  std::vector<float> lowered, own(40 * set.ids.size(), 0.0F);
  for (std::size_t c = 0; c < set.ids.size(); ++c) {
    rows.push_back(std::max(set.ids[c], 0));
    lowered.push_back(set.ids[c] < 0 ? -1e30F : -set.log_inclusion[c]);
  }
  for (std::size_t n = 0; n < data.ids.size(); ++n) {
    const auto at = static_cast<std::size_t>(
        std::find(set.ids.begin(), set.ids.end(), data.ids[n]) - set.ids.begin());
    places.push_back(static_cast<std::int32_t>(at));
    own[n * set.ids.size() + at] = set.log_inclusion[at];
  }
  const auto plain = [&](const Arrays& a) {
    auto logits =
        mx::add(plain_linear(a[0], mx::take(a[1], ints(rows), 0)), mx::take(a[2], ints(rows), 0));
    logits = mx::add(logits, mx::array(lowered.begin(), {classes}, mx::float32));
    logits = mx::add(logits, mx::array(own.begin(), {40, classes}, mx::float32));
    const auto hit = mx::take_along_axis(logits, mx::reshape(ints(places), {-1, 1}), 1);
    return weighted_mean(mx::subtract(mx::logsumexp(logits, -1), mx::reshape(hit, {-1})),
                         data.weights());
  };
  expect_same(
      plain, [&](const Arrays& a) { return sampled_loss(a, data, set, GetParam().precision); },
      data.inputs, GetParam().tolerance);
}

TEST(Ops, SameInputsGiveTheSameBits) {
  const HeadData data(1300, 96);
  const auto once = [&] {
    return mx::grad(
        [&](const Arrays& a) {
          return softmax_cross_entropy(a[0], a[1], a[2], data.targets(), data.weights(),
                                       HeadPass::Train, best_precision())
              .loss;
        },
        std::vector<int>{0, 1, 2})(data.inputs);
  };
  const auto first = once();
  const auto second = once();
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_TRUE(mx::array_equal(first[i], second[i]).item<bool>());
}

TEST(Ops, RefuseWrongShapesAndTypes) {
  const auto x = random({4, 32}, 1);
  EXPECT_THROW(linear(x, random({8, 31}, 2), Precision::Fp32), std::invalid_argument);
  EXPECT_THROW(rms_norm(x, random({31}, 2), 1e-5F), std::invalid_argument);
  EXPECT_THROW(embedding_lookup(x, x), std::invalid_argument);
  EXPECT_THROW(dropout(x, 1.0F, 1), std::invalid_argument);
  EXPECT_THROW(gru_sequence(x, x, x, x, x, Precision::Fp32), std::invalid_argument);
  EXPECT_THROW(local_attention(x, x, x, x, x), std::invalid_argument);
  EXPECT_THROW(softmax_cross_entropy(x, random({8, 16}, 2), random({8}, 3), ints({0, 1, 2, 3}),
                                     mx::ones({4}), HeadPass::Train, Precision::Fp32),
               std::invalid_argument);
}

}  // namespace
}  // namespace laya::train

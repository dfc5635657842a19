// The mlx backend (MLX's CPU device here) and the cpu backend over the very same weights: each
// family, each kind of pass. In a build without MLX it must say so.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "model/backends/cpu.h"
#include "model/backends/mlx.h"
#include "model/decoder/test_decoders.h"

namespace laya::model {
namespace {

class MlxDecoders : public testing::TestWithParam<DecoderFamily> {
 protected:
  void SetUp() override {
    auto decoder = load_decoder(model_.file(), mlx_backend());
    if (!decoder) {
      ASSERT_EQ(decoder.error().code, ErrorCode::Unsupported) << decoder.error().message;
      GTEST_SKIP() << "no MLX in this build";
    }
    mlx_ = std::move(*decoder);
    mlx_ws_ = mlx_->make_workspace();
  }

  const DecoderConfig& config() const { return cpu_->config(); }
  KvCache cache(KvType type = KvType::F32) const { return KvCache(config(), {64, 64, type, 16}); }
  std::vector<TokenId> tokens(std::size_t n) const {
    return some_tokens(n, config().vocabulary_size);
  }

  RandomDecoder model_{GetParam()};
  std::unique_ptr<Decoder> cpu_ = model_.load(cpu_backend()), mlx_;
  std::unique_ptr<Workspace> cpu_ws_ = cpu_->make_workspace(), mlx_ws_;
};

INSTANTIATE_TEST_SUITE_P(All, MlxDecoders, testing::ValuesIn(kDecoderFamilies),
                         [](const auto& each) { return std::string(family_name(each.param)); });

void expect_close(std::span<const float> got, std::span<const float> want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double largest = 0;
  for (const float value : want) {
    largest = std::max(largest, std::fabs(double{value}));
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance * largest) << "number " << i;
  }
}

TEST_P(MlxDecoders, AgreesWithTheCpuBackend) {
  for (const KvType type : {KvType::F32, KvType::F16, KvType::Int8}) {
    // Keys that differ in their last bit may round to different half or int8 values.
    const double tolerance = type == KvType::F32 ? 2e-5 : type == KvType::F16 ? 1e-3 : 2e-2;
    KvCache ours = cache(type), theirs = cache(type);
    const std::vector<TokenId> text = tokens(100);  // wraps the ring of 64
    std::vector<float> a(config().hidden_dim), b(a.size());
    for (std::size_t done = 0; done < text.size(); done += 20) {
      SCOPED_TRACE(testing::Message() << "kv type " << static_cast<int>(type) << " from " << done);
      const std::span<const TokenId> part = std::span(text).subspan(done, 20);
      ASSERT_TRUE(mlx_->prefill(*mlx_ws_, ours, part, a));
      ASSERT_TRUE(cpu_->prefill(*cpu_ws_, theirs, part, b));
      expect_close(a, b, tolerance);
    }
    EXPECT_EQ(ours.length(), text.size());

    const Column tree[] = {{kRoot, 5}, {0, 9}, {kRoot, 7}, {1, 11}, {2, 13}};
    std::vector<float> c(5 * config().hidden_dim), d(c.size());
    ASSERT_TRUE(mlx_->grow(*mlx_ws_, ours, tree, c));
    ASSERT_TRUE(cpu_->grow(*cpu_ws_, theirs, tree, d));
    expect_close(c, d, tolerance);
    const Column more[] = {{3, 2}, {4, 3}};
    ASSERT_TRUE(mlx_->grow(*mlx_ws_, ours, more, std::span(c).first(2 * config().hidden_dim)));
    ASSERT_TRUE(cpu_->grow(*cpu_ws_, theirs, more, std::span(d).first(2 * config().hidden_dim)));
    expect_close(c, d, tolerance);
    ours.commit(5);
    theirs.commit(5);
    ASSERT_TRUE(mlx_->prefill(*mlx_ws_, ours, tokens(1), a));
    ASSERT_TRUE(cpu_->prefill(*cpu_ws_, theirs, tokens(1), b));
    expect_close(a, b, tolerance);
  }
}

TEST_P(MlxDecoders, ScoresAgree) {
  const std::size_t n = 3, v = config().vocabulary_size;
  KvCache kv = cache();
  std::vector<float> hidden;
  for (const auto& column : all_hidden(*cpu_, *cpu_ws_, kv, tokens(n))) {
    hidden.insert(hidden.end(), column.begin(), column.end());
  }
  std::vector<float> a(n * v), b(n * v), sums_a(n), sums_b(n);
  ASSERT_TRUE(mlx_->logits(*mlx_ws_, hidden, n, a));
  ASSERT_TRUE(cpu_->logits(*cpu_ws_, hidden, n, b));
  expect_close(a, b, 2e-5);
  ASSERT_TRUE(mlx_->log_normalizers(*mlx_ws_, hidden, n, sums_a));
  ASSERT_TRUE(cpu_->log_normalizers(*cpu_ws_, hidden, n, sums_b));
  expect_close(sums_a, sums_b, 2e-5);
  const std::vector<TokenId> rows = {90, 3, 3, 17, 0};
  std::vector<float> chosen(n * rows.size());
  ASSERT_TRUE(mlx_->logits_rows(*mlx_ws_, hidden, n, rows, chosen));
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(chosen[c * rows.size() + i], a[c * v + rows[i]], 1e-5);
    }
  }
  ASSERT_TRUE(mlx_->logits_rows(*mlx_ws_, hidden, n, {}, {}));
}

TEST_P(MlxDecoders, ACancelledPassLeavesTheCacheAsItWas) {
  KvCache kv = cache();
  std::vector<float> before(config().hidden_dim), after(before.size());
  ASSERT_TRUE(mlx_->prefill(*mlx_ws_, kv, tokens(9), {}));
  base::CancelFlag cancel;
  cancel.cancel();
  const Status status = mlx_->prefill(*mlx_ws_, kv, tokens(3), {}, &cancel);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(kv.length(), 9U);
  ASSERT_TRUE(mlx_->prefill(*mlx_ws_, kv, tokens(1), after));
  KvCache fresh = cache();
  ASSERT_TRUE(mlx_->prefill(*mlx_ws_, fresh, tokens(9), {}));
  ASSERT_TRUE(mlx_->prefill(*mlx_ws_, fresh, tokens(1), before));
  EXPECT_EQ(after, before);
}

TEST_P(MlxDecoders, NonFiniteVectorsAreCorrupt) {
  std::vector<float> hidden(config().hidden_dim, 1.0F), out(config().vocabulary_size);
  hidden[3] = std::numeric_limits<float>::quiet_NaN();
  const Status status = mlx_->logits(*mlx_ws_, hidden, 1, out);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace laya::model

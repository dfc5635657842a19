#include "model/decoder/token_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "base/allocation_counter.h"
#include "model/backends/cpu.h"
#include "model/decoder/prefix_cache.h"
#include "model/decoder/test_decoders.h"

namespace laya::model {
namespace {

class TokenStreams : public testing::Test {
 protected:
  std::vector<TokenId> stream(const Sampling& sampling, std::size_t n) const {
    KvCache cache(decoder_->config());
    TokenStream tokens(*decoder_, cache, sampling);
    const Status status = tokens.start(prompt_);
    EXPECT_TRUE(status) << status.error().message;
    std::vector<TokenId> all;
    for (std::size_t i = 0; i < n; ++i) {
      const auto token = tokens.next_token();
      EXPECT_TRUE(token) << token.error().message;
      all.push_back(*token);
    }
    return all;
  }

  RandomDecoder model_{DecoderFamily::Qwen3, kInt4WithMinima};
  std::unique_ptr<Decoder> decoder_ = model_.load(cpu_backend());
  const std::vector<TokenId> prompt_ = {5, 17, 60, 2};
};

TEST_F(TokenStreams, GreedyTakesTheLargestLogitEachTime) {
  const auto got = stream({}, 20);
  const auto ws = decoder_->make_workspace();
  KvCache cache(decoder_->config());
  std::vector<float> hidden(decoder_->config().hidden_dim), logits(91);
  ASSERT_TRUE(decoder_->prefill(*ws, cache, prompt_, hidden));
  for (const TokenId token : got) {
    ASSERT_TRUE(decoder_->logits(*ws, hidden, 1, logits));
    EXPECT_EQ(std::ranges::max_element(logits) - logits.begin(), token);
    ASSERT_TRUE(decoder_->prefill(*ws, cache, {&token, 1}, hidden));
  }
}

TEST_F(TokenStreams, TheSeedDecidesTheSample) {
  const Sampling warm{1.0F, 40, 0.95F, 7};
  EXPECT_EQ(stream(warm, 30), stream(warm, 30));
  EXPECT_NE(stream(warm, 30), stream({1.0F, 40, 0.95F, 8}, 30));
  EXPECT_EQ(stream({1.0F, 1, 1.0F, 3}, 20), stream({}, 20));   // one candidate
  EXPECT_EQ(stream({1.0F, 0, 1e-6F, 3}, 20), stream({}, 20));  // a nucleus of one
}

TEST_F(TokenStreams, TopKBoundsTheChoice) {
  std::set<TokenId> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    seen.insert(stream({5.0F, 3, 1.0F, seed}, 1).front());
  }
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(TokenStreams, ACancelledCallCanBeRepeated) {
  KvCache cache(decoder_->config());
  TokenStream tokens(*decoder_, cache);
  base::CancelFlag flag;
  flag.cancel();
  EXPECT_FALSE(tokens.start(prompt_, &flag));
  EXPECT_EQ(cache.length(), 0U);
  ASSERT_TRUE(tokens.start(prompt_));
  const auto cancelled = tokens.next_token(&flag);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(*tokens.next_token(), stream({}, 1).front());
}

TEST_F(TokenStreams, SaysWhatIsMissing) {
  KvCache cache(decoder_->config());
  TokenStream tokens(*decoder_, cache);
  EXPECT_FALSE(tokens.next_token());
  EXPECT_FALSE(tokens.start({}));
  EXPECT_FALSE(tokens.start({{91}}));
}

TEST_F(TokenStreams, AllocatesNothingAfterTheFirstToken) {
  KvCache cache(decoder_->config(), {32, 0, KvType::Int8, 4});
  TokenStream tokens(*decoder_, cache, {0.8F, 40, 0.9F, 1});
  ASSERT_TRUE(tokens.start(prompt_));
  ASSERT_TRUE(tokens.next_token());
  const base::AllocationScope scope;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(tokens.next_token());
  }
  EXPECT_EQ(scope.count(), 0U);
}

TEST_F(TokenStreams, PrefixesAreSharedBetweenSessions) {
  const KvOptions options{64, 16, KvType::F16};
  PrefixCache prefixes(decoder_->config(), options, 10U << 20);
  const auto ws = decoder_->make_workspace();
  const std::vector<TokenId> text = {1, 2, 3, 4, 5, 6}, other = {1, 2, 3, 9, 9};
  KvCache cache(decoder_->config(), options), fork(decoder_->config(), options);
  EXPECT_EQ(prefixes.restore(text, fork), 0U);
  ASSERT_TRUE(decoder_->prefill(*ws, cache, text, {}));
  prefixes.store(text, cache);
  EXPECT_EQ(prefixes.restore(other, fork), 3U);
  EXPECT_EQ(fork.length(), 3U);
  std::vector<float> got(decoder_->config().hidden_dim), wanted(got.size());
  ASSERT_TRUE(decoder_->prefill(*ws, fork, std::span(other).subspan(3), got));
  cache.truncate(0);
  ASSERT_TRUE(decoder_->prefill(*ws, cache, other, wanted));
  EXPECT_EQ(got, wanted);

  EXPECT_EQ(prefixes.restore({{7, 1}}, fork), 0U);
  EXPECT_EQ(fork.length(), 0U);
  prefixes.store(std::span(text).first(4), cache);  // not what the cache holds
  EXPECT_EQ(prefixes.entries(), 1U);
  prefixes.store(other, cache);
  EXPECT_EQ(prefixes.entries(), 2U);
  ASSERT_EQ(prefixes.restore(text, fork), 6U);
  ASSERT_TRUE(decoder_->prefill(*ws, fork, {{8, 8}}, {}));
  const std::vector<TokenId> longer = {1, 2, 3, 4, 5, 6, 8, 8};
  prefixes.store(longer, fork);  // takes the place of `text`
  EXPECT_EQ(prefixes.entries(), 2U);
  EXPECT_EQ(prefixes.restore(text, fork), 6U);
  prefixes.clear();
  EXPECT_EQ(prefixes.size_bytes(), 0U);
}

TEST_F(TokenStreams, TheOldestPrefixGoesFirst) {
  const KvOptions options{64, 0, KvType::F16};
  PrefixCache measure(decoder_->config(), options, 10U << 20);
  const auto ws = decoder_->make_workspace();
  const auto store = [&](PrefixCache& prefixes, TokenId first) {
    KvCache cache(decoder_->config(), options);
    const std::vector<TokenId> text = {first, 1, 2};
    EXPECT_TRUE(decoder_->prefill(*ws, cache, text, {}));
    prefixes.store(text, cache);
  };
  store(measure, 10);
  const std::size_t one = measure.size_bytes();
  PrefixCache prefixes(decoder_->config(), options, 2 * one);
  KvCache into(decoder_->config(), options);
  store(prefixes, 10);
  store(prefixes, 20);
  EXPECT_EQ(prefixes.restore({{10}}, into), 1U);  // now 20 is the oldest
  store(prefixes, 30);
  EXPECT_LE(prefixes.size_bytes(), 2 * one);
  EXPECT_EQ(prefixes.restore({{20}}, into), 0U);
  EXPECT_EQ(prefixes.restore({{10}}, into), 1U);
  EXPECT_EQ(prefixes.restore({{30}}, into), 1U);
  PrefixCache none(decoder_->config(), options, one - 1);
  store(none, 10);
  EXPECT_EQ(none.entries(), 0U);
}

TEST_F(TokenStreams, PrefixesMayBeUsedByManyThreads) {
  const KvOptions options{64, 0, KvType::F16};
  PrefixCache prefixes(decoder_->config(), options, 64U << 10);  // a few entries: evicts all along
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (TokenId t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto ws = decoder_->make_workspace();
      KvCache cache(decoder_->config(), options);
      std::vector<float> got(decoder_->config().hidden_dim), wanted(got.size());
      for (TokenId i = 0; i < 60; ++i) {
        const std::vector<TokenId> text = {i % 5, (i + t) % 3, t, 7};
        const std::size_t known =
            std::min<std::size_t>(prefixes.restore(text, cache), text.size() - 1);
        cache.truncate(known);
        bool good =
            static_cast<bool>(decoder_->prefill(*ws, cache, std::span(text).subspan(known), got));
        prefixes.store(text, cache);
        cache.truncate(0);
        good = good && decoder_->prefill(*ws, cache, text, wanted) && got == wanted;
        wrong += good ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace laya::model

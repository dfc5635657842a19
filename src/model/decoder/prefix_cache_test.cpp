#include "model/decoder/prefix_cache.h"

#include <gtest/gtest.h>

#include "base/allocation_counter.h"
#include "model/backends/cpu.h"
#include "model/decoder/test_decoders.h"

namespace laya::model {
namespace {

class Prefixes : public testing::Test {
 protected:
  void store(const std::vector<TokenId>& text, PrefixCache::Owner owner) {
    KvCache cache(decoder_->config(), options_);
    ASSERT_TRUE(decoder_->prefill(*workspace_, cache, text, {}));
    if (owner == PrefixCache::kNobody) {
      prefixes_.pin(text, cache);
    } else {
      prefixes_.store(text, cache, owner);
    }
  }
  std::size_t known(const std::vector<TokenId>& text) {
    KvCache into(decoder_->config(), options_);
    return prefixes_.restore(text, into);
  }

  RandomDecoder model_{DecoderFamily::Llama};
  std::unique_ptr<Decoder> decoder_ = model_.load(cpu_backend());
  std::unique_ptr<Workspace> workspace_ = decoder_->make_workspace();
  const KvOptions options_{64, 0, KvType::F16};
  PrefixCache prefixes_{decoder_->config(), options_, 10U << 20};
};

TEST_F(Prefixes, AreForgottenWithTheirOwner) {
  const PrefixCache::Owner me = prefixes_.new_owner();
  const PrefixCache::Owner you = prefixes_.new_owner();
  ASSERT_NE(me, you);
  store({1, 2, 3}, me);
  store({4, 5}, me);
  store({1, 7}, you);
  prefixes_.forget(me);
  EXPECT_EQ(prefixes_.entries(), 1u);
  EXPECT_EQ(known({1, 2, 3}), 1u);
  EXPECT_EQ(known({4, 5}), 0u);
  prefixes_.forget(you);
  EXPECT_EQ(prefixes_.size_bytes(), 0u);
}

TEST_F(Prefixes, PinnedOnesOutliveEverything) {
  store({1, 2, 3, 4}, PrefixCache::kNobody);
  const std::size_t one = prefixes_.size_bytes();
  const PrefixCache::Owner me = prefixes_.new_owner();
  store({1, 2, 3, 4, 5, 6}, me);  // begins with it, yet does not take its place
  EXPECT_EQ(prefixes_.entries(), 2u);
  prefixes_.forget(me);
  prefixes_.forget(PrefixCache::kNobody);
  EXPECT_EQ(known({1, 2, 3, 4, 9}), 4u);
  PrefixCache small(decoder_->config(), options_, 2 * one);
  KvCache cache(decoder_->config(), options_);
  const std::vector<TokenId> text = {1, 2, 3, 4};
  ASSERT_TRUE(decoder_->prefill(*workspace_, cache, text, {}));
  small.pin(text, cache);
  for (TokenId first = 10; first < 20; ++first) {
    cache.truncate(0);
    const std::vector<TokenId> other = {first, 1, 2, 3};
    ASSERT_TRUE(decoder_->prefill(*workspace_, cache, other, {}));
    small.store(other, cache, small.new_owner());
    EXPECT_LE(small.size_bytes(), 2 * one);
  }
  EXPECT_EQ(small.restore(text, cache), 4u);
}

TEST_F(Prefixes, ARestoreThatSavesTooLittleTouchesNothing) {
  store({1, 2, 3}, prefixes_.new_owner());
  KvCache into(decoder_->config(), options_);
  const std::vector<TokenId> own = {1, 2};
  ASSERT_TRUE(decoder_->prefill(*workspace_, into, own, {}));
  EXPECT_EQ(prefixes_.restore_more({{1, 2, 3, 4}}, into, 4), 0u);
  EXPECT_EQ(into.length(), 2u);
  EXPECT_EQ(prefixes_.restore_more({{1, 2, 3, 4}}, into, 3), 3u);
  EXPECT_EQ(into.length(), 3u);
}

TEST_F(Prefixes, WhatIsKnownIsStoredWithoutAllocating) {
  const std::vector<TokenId> text = {1, 2, 3};
  KvCache cache(decoder_->config(), options_);
  ASSERT_TRUE(decoder_->prefill(*workspace_, cache, text, {}));
  prefixes_.store(text, cache, 1);
  const base::AllocationScope scope;
  prefixes_.store(text, cache, 1);
  EXPECT_EQ(scope.count(), 0u);
}

}  // namespace
}  // namespace laya::model

// What the cache itself promises; that its contents give the right numbers is decoder_test.cpp's.
#include "model/decoder/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/bench/random_decoder.h"
#include "model/core/workspace.h"

namespace laya::model {
namespace {

DecoderConfig config() { return tiny_decoder_config(DecoderFamily::Llama); }

std::vector<std::uint32_t> context(const KvCache& cache, std::size_t position,
                                   std::size_t window = 0) {
  std::vector<std::uint32_t> slots(cache.slots());
  slots.resize(cache.context_of_position(position, window, slots));
  return slots;
}

void append(KvCache& cache, std::size_t n) {
  for (; n > 0; n -= std::min(n, kMaxColumns)) {
    cache.begin_append(std::min(n, kMaxColumns));
    cache.finish_append(std::min(n, kMaxColumns));
  }
}

TEST(KvCache, NamesTheOptionThatIsOutOfRange) {
  const auto complaint = [](const DecoderConfig& shape, const KvOptions& options) {
    const Status status = KvCache::check(shape, options);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(complaint(config(), {}), "");
  EXPECT_NE(complaint(config(), {0, 256}).find("capacity_tokens"), std::string::npos);
  EXPECT_NE(complaint(config(), {65537, 256}).find("capacity_tokens"), std::string::npos);
  EXPECT_NE(complaint(config(), {512, 4097}).find("tree_nodes"), std::string::npos);
  EXPECT_NE(complaint(config(), {512, 256, KvType::F16, 65537}).find("undo_tokens"),
            std::string::npos);
  DecoderConfig huge = config();
  huge.layers = 256;
  huge.sliding_layers.clear();
  huge.heads = huge.kv_heads = 256;
  huge.head_dim = 256;
  const Status status = KvCache::check(huge, {65536, 4096, KvType::F32, 65536});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::TooLarge);
  huge.heads = 3;
  EXPECT_NE(complaint(huge, {}).find("kv_heads"), std::string::npos);
}

TEST(KvCache, TakesHalfTheMemoryInInt8) {
  const std::size_t f32 = KvCache(config(), {512, 256, KvType::F32}).size_bytes();
  const std::size_t f16 = KvCache(config(), {512, 256, KvType::F16}).size_bytes();
  const std::size_t int8 = KvCache(config(), {512, 256, KvType::Int8}).size_bytes();
  EXPECT_EQ(f32, 2 * f16);
  EXPECT_LT(int8, f16 * 5 / 8 + 8192);  // codes, and a scale for 16 of them
}

TEST(KvCache, ATokenAttendsToTheCapacityOrItsWindow) {
  KvCache cache(config(), {8, 4, KvType::F16, 4});
  append(cache, 40);
  const auto slots = context(cache, 40);
  ASSERT_EQ(slots.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(slots[i], cache.slot_of_position(33 + i));
  }
  EXPECT_EQ(context(cache, 40, 3), std::vector<std::uint32_t>(slots.end() - 3, slots.end()));
  EXPECT_EQ(context(cache, 40, 100), slots);
  EXPECT_EQ(context(cache, 2).size(), 3U);
}

TEST(KvCache, ANodeAttendsToItsPathAlone) {
  KvCache cache(config(), {8, 16, KvType::F16, 4});
  append(cache, 5);
  const Column columns[] = {{kRoot, 1}, {0, 2}, {0, 3}, {2, 4}};
  EXPECT_EQ(cache.add_nodes(columns), 0);
  std::vector<std::uint32_t> slots(cache.slots());
  slots.resize(cache.context_of_node(3, 0, slots));
  const std::vector<std::uint32_t> wanted = {0,
                                             1,
                                             2,
                                             3,
                                             4,
                                             static_cast<std::uint32_t>(cache.slot_of_node(0)),
                                             static_cast<std::uint32_t>(cache.slot_of_node(2)),
                                             static_cast<std::uint32_t>(cache.slot_of_node(3))};
  EXPECT_EQ(slots, wanted);
  slots.resize(cache.slots());
  slots.resize(cache.context_of_node(3, 2, slots));
  EXPECT_EQ(slots, std::vector<std::uint32_t>(wanted.end() - 2, wanted.end()));
  EXPECT_EQ(cache.depth(3), 3U);
  EXPECT_EQ(cache.parent(3), 2);
  EXPECT_EQ(cache.token(3), 4U);
  cache.drop_nodes_from(2);
  EXPECT_EQ(cache.node_count(), 2U);
  cache.drop_nodes_from(7);
  EXPECT_EQ(cache.node_count(), 2U);
  cache.commit(kRoot);
  EXPECT_EQ(cache.node_count(), 0U);
  EXPECT_EQ(cache.length(), 5U);
}

TEST(KvCache, TakesBackAsManyTokensAsItSays) {
  KvCache cache(config(), {32, 4, KvType::F16, 10});
  append(cache, 20);
  EXPECT_EQ(cache.truncatable_to(), 1U);
  append(cache, 80);
  EXPECT_LE(cache.truncatable_to(), 100U - 10U);
  EXPECT_EQ(cache.truncate(90), 90U);
  append(cache, 10);
  EXPECT_EQ(cache.truncate(90), 90U);
  EXPECT_EQ(cache.truncate(30), 0U);
  EXPECT_EQ(cache.length(), 0U);
  append(cache, 20);
  EXPECT_EQ(cache.truncate(7), 7U);
}

}  // namespace
}  // namespace laya::model

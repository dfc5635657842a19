#include "predict/pinyin/pinyin_network.h"

#include <gtest/gtest.h>

#include <array>

#include "predict/session/test_engine.h"

namespace laya::predict {
namespace {

using Node = PinyinNetwork::Node;

class PinyinTree : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(network_.set_context("see you ")); }

  // The node of `tokens` behind `from`.
  Node walk(Node from, std::initializer_list<TokenId> tokens) {
    for (const TokenId token : tokens) from = network_.child(from, token);
    return from;
  }
  Node chain(std::size_t length) {
    Node node = PinyinNetwork::kRoot;
    for (std::size_t i = 0; i < length; ++i) {
      node = network_.child(node, static_cast<TokenId>(300 + i % 50));
    }
    return node;
  }
  float log_prob(Node node, TokenId token) {
    EXPECT_TRUE(network_.reach(node));
    const auto found = network_.log_prob(node, token);
    EXPECT_TRUE(found);
    return *found;
  }

  PinyinNetwork network_{full_engine()};
};

TEST_F(PinyinTree, NamesATextOnce) {
  const Node node = walk(PinyinNetwork::kRoot, {400, 401});
  EXPECT_EQ(walk(PinyinNetwork::kRoot, {400, 401}), node);
  EXPECT_NE(walk(PinyinNetwork::kRoot, {400, 402}), node);
  EXPECT_EQ(network_.nodes(), 4U);
}

TEST_F(PinyinTree, KeepsWhatIsNamedAndWhatIsAboveIt) {
  const Node dropped = walk(PinyinNetwork::kRoot, {500, 501});
  const Node kept = walk(PinyinNetwork::kRoot, {400, 401, 402});
  const float before = log_prob(kept, 403);
  const float of_dropped = log_prob(dropped, 403);
  const std::size_t passes = network_.passes();
  std::array<Node, 2> named{kept, PinyinNetwork::kRoot};
  network_.keep_only(named);
  EXPECT_EQ(network_.nodes(), 4U);
  EXPECT_EQ(named[1], PinyinNetwork::kRoot);
  EXPECT_TRUE(network_.is_computed(named[0])) << "its state stays";
  EXPECT_EQ(walk(PinyinNetwork::kRoot, {400, 401, 402}), named[0]) << "it is found by its text";
  EXPECT_EQ(log_prob(named[0], 403), before);
  EXPECT_EQ(network_.passes(), passes) << "nothing was computed again";
  const Node again = walk(PinyinNetwork::kRoot, {500, 501});
  EXPECT_FALSE(network_.is_computed(again));
  EXPECT_FLOAT_EQ(log_prob(again, 403), of_dropped);
}

TEST_F(PinyinTree, MakesRoomAgainAndAgain) {
  for (int round = 0; round < 3; ++round) {
    while (network_.nodes() < PinyinNetwork::kMaxNodes) {
      network_.child(static_cast<Node>(network_.nodes() / 2),
                     static_cast<TokenId>(network_.nodes() % 9000));
    }
    std::array<Node, 1> named{walk(PinyinNetwork::kRoot, {})};
    network_.keep_only(named);
    EXPECT_EQ(network_.nodes(), 1U);
  }
  EXPECT_TRUE(network_.compute(std::array<Node, 1>{chain(3)}));
}

TEST_F(PinyinTree, ReachesATextThatIsFartherThanItsStatesAreMany) {
  const Node node = chain(2 * PinyinNetwork::kStates + 1);
  EXPECT_EQ(network_.missing_above(node, 10), 10U);
  EXPECT_EQ(network_.compute(std::array<Node, 1>{node}).error().code, ErrorCode::TooLarge);
  const float far = log_prob(node, 403);
  EXPECT_EQ(network_.missing_above(node, 10), 0U);
  PinyinNetwork other(full_engine());
  ASSERT_TRUE(other.set_context("see you "));
  Node same = PinyinNetwork::kRoot;
  for (std::size_t i = 0; i <= 2 * PinyinNetwork::kStates; ++i) {
    same = other.child(same, static_cast<TokenId>(300 + i % 50));
    ASSERT_TRUE(other.compute(std::array<Node, 1>{same}));
  }
  EXPECT_FLOAT_EQ(*other.log_prob(same, 403), far);
}

TEST_F(PinyinTree, StopsWhenCancelled) {
  base::CancelFlag cancel;
  cancel.cancel();
  const Node node = chain(200);
  EXPECT_EQ(network_.reach(node, &cancel).error().code, ErrorCode::Cancelled);
  EXPECT_EQ(network_.compute(std::array<Node, 1>{chain(3)}, &cancel).error().code,
            ErrorCode::Cancelled);
  EXPECT_EQ(network_.set_context("quite another text", &cancel).error().code, ErrorCode::Cancelled);
  ASSERT_TRUE(network_.set_context("see you "));
  PinyinNetwork other(full_engine());
  ASSERT_TRUE(other.set_context("see you "));
  EXPECT_FLOAT_EQ(*network_.log_prob(PinyinNetwork::kRoot, 400),
                  *other.log_prob(PinyinNetwork::kRoot, 400));
}

}  // namespace
}  // namespace laya::predict

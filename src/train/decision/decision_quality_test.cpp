#include "train/decision/decision_quality.h"

#include <gtest/gtest.h>

#include <cmath>

namespace laya::train {
namespace {

TEST(RankingQuality, CountsPlacesAndNone) {
  const auto groups =
      parse_ranking("#laya-ranking 1\n#features\ta\n0\t0\n1\t0\n0\t0\n\n1\t0\n0\t0\n\n0\t0\n", "f");
  ASSERT_TRUE(groups);
  const std::vector<float> scores = {3, 2, 1, 5, 5, -1};  // right: second of three; a tie, first
  const RankingQuality quality = ranking_quality(*groups, scores);
  EXPECT_EQ(quality.decisions, 3U);
  EXPECT_EQ(quality.answerable, 2U);
  EXPECT_DOUBLE_EQ(quality.top1, 0.5);
  EXPECT_DOUBLE_EQ(quality.mrr, 0.75);
  const double loss = std::log(1 + std::exp(3) + std::exp(2) + std::exp(1)) - 2 +
                      std::log(1 + 2 * std::exp(5)) - 5 + std::log(1 + std::exp(-1));
  EXPECT_NEAR(quality.log_loss, loss / 3, 1e-6);
  const RankingQuality order = order_quality(*groups);
  EXPECT_DOUBLE_EQ(order.top1, 0.5);
  EXPECT_DOUBLE_EQ(order.mrr, 0.75);
  EXPECT_GT(order.log_loss, 0.0);
}

TEST(ActionQuality, KnowsTheMajorityOfWhatWasLearnt) {
  const auto learnt = parse_decision_examples(
      "{\"window\":[0],\"action\":1}\n{\"window\":[0],\"action\":1}\n{\"window\":[0],\"action\":0}",
      "f");
  const auto judged =
      parse_decision_examples("{\"window\":[0],\"action\":1}\n{\"window\":[0],\"action\":2}", "f");
  const ActionQuality majority = majority_quality(*learnt, *judged);
  EXPECT_DOUBLE_EQ(majority.accuracy, 0.5);
  // Shares with one added: 2/6, 3/6, 1/6.
  EXPECT_NEAR(majority.log_loss, -(std::log(0.5) + std::log(1.0 / 6)) / 2, 1e-9);
  const std::vector<float> logits = {0, 2, 1, 0, 1, 0};
  const ActionQuality quality = action_quality(*judged, 3, logits);
  EXPECT_DOUBLE_EQ(quality.accuracy, 0.5);
  const double loss = std::log(1 + std::exp(2) + std::exp(1)) - 2 + std::log(2 + std::exp(1));
  EXPECT_NEAR(quality.log_loss, loss / 2, 1e-6);
}

}  // namespace
}  // namespace laya::train

#include "train/decision/decision_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/test_folder.h"
#include "mlx/array.h"
#include "mlx/ops.h"
#include "train/decision/decision_graph.h"
#include "train/decision/decision_options.h"
#include "train/decision/decision_quality.h"
#include "train/text/random.h"

namespace laya::train {
namespace {

std::string test_text(const std::string& name) {
  const auto text =
      base::read_file(std::string(LAYA_SOURCE_DIR) + "/testdata/decision/" + name, 1U << 22);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *text : std::string();
}

RankingGroups candidates() { return *parse_ranking(test_text("candidates.tsv"), "candidates"); }
DecisionExamples examples(const std::string& name) {
  return *parse_decision_examples(test_text(name), name);
}

DecisionTrainOptions quick() {
  DecisionTrainOptions options;
  options.epochs = 25;
  options.batch = 64;
  options.learning_rate = 5e-3F;
  return options;
}

/// What was learnt, as it will run: through a file.
std::unique_ptr<const model::DecisionModel> stored(const model::DecisionConfig& config,
                                                   const model::DecisionWeights& weights) {
  const base::TestFolder folder;
  EXPECT_TRUE(model::write_decision_model(folder.file("m"), config, weights, "{}"));
  auto loaded = model::DecisionModel::open(folder.file("m"));
  EXPECT_TRUE(loaded) << loaded.error().message;
  return std::move(*loaded);
}

/// Dev accuracy of a model that learnt from the first nine tenths.
double learnt_accuracy(const model::DecisionConfig& config, const DecisionExamples& all) {
  const std::size_t cut = all.size() * 9 / 10;
  const DecisionExamples train = all.part(0, cut), dev = all.part(cut, all.size());
  const auto trained = train_actions(config, train, dev, quick(), {});
  EXPECT_TRUE(trained) << trained.error().message;
  if (!trained) return 0.0;
  const auto logits = all_logits(*stored(config, trained->weights), dev);
  return action_quality(dev, config.actions, *logits).accuracy;
}

double majority_accuracy(const DecisionExamples& all) {
  const std::size_t cut = all.size() * 9 / 10;
  return majority_quality(all.part(0, cut), all.part(cut, all.size())).accuracy;
}

model::DecisionConfig small_config(model::DecisionKind kind, const DecisionExamples& all) {
  if (kind == model::DecisionKind::WindowedMlp) {
    return model::default_windowed_mlp_config(all.vocabulary_size, all.actions);
  }
  model::DecisionConfig config =
      model::default_transformer_config(all.vocabulary_size, all.actions);
  config.embedding_dim = 32;
  config.heads = 2;
  config.ffn_dim = 64;
  return config;
}

TEST(DecisionTrainer, LearnsGesturesAndAGameFarBetterThanTheMajority) {
  for (const char* name : {"gestures.jsonl", "game.jsonl"}) {
    const DecisionExamples all = examples(name);
    const double majority = majority_accuracy(all);
    for (const auto kind : {model::DecisionKind::WindowedMlp, model::DecisionKind::Transformer}) {
      const double learnt = learnt_accuracy(small_config(kind, all), all);
      RecordProperty(std::string(name) + " " + std::string(model::decision_kind_name(kind)),
                     std::to_string(learnt));
      EXPECT_GT(learnt, majority + 0.3) << name << " " << model::decision_kind_name(kind);
      EXPECT_GT(learnt, 0.8) << name << " " << model::decision_kind_name(kind);
    }
  }
}

TEST(DecisionTrainer, LearnsNothingWhereThereIsNothingToLearn) {
  DecisionExamples all = examples("gestures.jsonl");
  Random random(3);
  for (std::size_t i = all.size(); i > 1; --i) {
    std::swap(all.action[i - 1], all.action[random.below(i)]);
  }
  const double learnt = learnt_accuracy(small_config(model::DecisionKind::WindowedMlp, all), all);
  EXPECT_LT(learnt, majority_accuracy(all) + 0.1);
}

TEST(DecisionTrainer, RanksBetterThanTheOrderItWasGivenByEitherLoss) {
  const RankingGroups all = candidates();
  const std::size_t cut = all.size() * 9 / 10;
  const RankingGroups train = all.part(0, cut), dev = all.part(cut, all.size());
  const model::DecisionConfig config = model::default_ranker_config(all.features);
  const RankingQuality before = order_quality(dev);
  for (const RankLoss loss : {RankLoss::ListNet, RankLoss::Pairwise}) {
    DecisionTrainOptions options = quick();
    options.loss = loss;
    const auto trained = train_ranker(config, train, dev, options, {});
    ASSERT_TRUE(trained) << trained.error().message;
    const auto scores = all_scores(*stored(config, trained->weights), dev);
    ASSERT_TRUE(scores) << scores.error().message;
    const RankingQuality after = ranking_quality(dev, *scores);
    RecordProperty(std::string(rank_loss_name(loss)), std::to_string(after.top1));
    EXPECT_GT(after.top1, before.top1 + 0.15) << rank_loss_name(loss);
    EXPECT_GT(after.mrr, before.mrr);
    if (loss == RankLoss::ListNet) {
      EXPECT_LT(after.log_loss, before.log_loss);
    }
  }
}

TEST(DecisionTrainer, RepeatsItselfBitForBit) {
  const RankingGroups all = candidates();
  const RankingGroups train = all.part(0, 200), dev = all.part(200, 250);
  const model::DecisionConfig config = model::default_ranker_config(all.features);
  DecisionTrainOptions options = quick();
  options.epochs = 2;
  options.dropout = 0.1F;
  const auto first = train_ranker(config, train, dev, options, {});
  const auto second = train_ranker(config, train, dev, options, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->weights, second->weights);
  options.seed = 2;
  EXPECT_NE(train_ranker(config, train, dev, options, {})->weights, first->weights);
}

TEST(DecisionTrainer, TellsEachEpochAndStopsWhenPatienceIsOut) {
  const DecisionExamples all = examples("game.jsonl");
  DecisionTrainOptions options = quick();
  options.epochs = 60;
  options.patience = 2;
  std::vector<DecisionEpoch> seen;
  const auto trained = train_actions(small_config(model::DecisionKind::WindowedMlp, all),
                                     all.part(0, 100), all.part(100, 200), options,
                                     [&](const DecisionEpoch& epoch) { seen.push_back(epoch); });
  ASSERT_TRUE(trained);
  EXPECT_EQ(seen.size(), trained->curve.size());
  ASSERT_LT(seen.size(), 60U);  // a hundred rounds are learnt by heart, dev gets worse
  ASSERT_GE(seen.size(), 3U);
  EXPECT_FALSE(seen.back().best);
  EXPECT_FALSE(seen[seen.size() - 2].best);
  EXPECT_TRUE(seen[seen.size() - 3].best);
}

TEST(DecisionTrainer, RefusesDataThatDoNotFit) {
  const RankingGroups groups = candidates().part(0, 10);
  const DecisionExamples all = examples("game.jsonl").part(0, 10);
  const auto config = model::default_ranker_config(groups.features);
  const auto tokens = model::default_windowed_mlp_config(9, 3);
  const auto code = [](const Result<TrainedDecision>& trained) {
    return trained ? ErrorCode::Internal : trained.error().code;
  };
  DecisionTrainOptions options;
  EXPECT_EQ(code(train_ranker(tokens, groups, groups, options, {})), ErrorCode::BadArgument);
  EXPECT_EQ(code(train_actions(config, all, all, options, {})), ErrorCode::BadArgument);
  const auto other = model::default_ranker_config({"a"});
  EXPECT_EQ(code(train_ranker(other, groups, groups, options, {})), ErrorCode::BadArgument);
  const auto fewer = model::default_windowed_mlp_config(4, 3);
  EXPECT_EQ(code(train_actions(fewer, all, all, options, {})), ErrorCode::BadArgument);
  options.learning_rate = 0.0F;
  EXPECT_EQ(code(train_ranker(config, groups, groups, options, {})), ErrorCode::BadArgument);
}

/// One batch of every kind through the graph, against the reference.
TEST(DecisionGraph, ComputesWhatTheReferenceDoes) {
  Random random(1);
  const auto views = [](const model::DecisionConfig& config,
                        const model::DecisionWeights& weights) {
    std::vector<mx::array> out;
    const auto tensors = model::decision_tensors(config);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      mx::Shape shape;
      for (const std::uint32_t n : tensors[i].shape) shape.push_back(static_cast<int>(n));
      out.emplace_back(weights[i].begin(), shape, mx::float32);
    }
    return out;
  };
  const auto ranker = model::default_ranker_config({"a", "b", "c"});
  auto weights = model::random_decision_weights(ranker, 4);
  for (float& w : weights[decision_tensors(ranker).size() - 2]) w = 0.5F;  // skip.weight
  std::vector<float> features(5 * 3);
  for (float& x : features) x = static_cast<float>(random.uniform() * 4.0 - 2.0);
  std::vector<float> expected(5);
  ASSERT_TRUE(model::reference_scores(ranker, weights, features, expected));
  mx::array scores = DecisionGraph(ranker, views(ranker, weights), 0.0F, 0)
                         .scores(mx::array(features.begin(), {5, 3}, mx::float32));
  scores.eval();
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(scores.data<float>()[i], expected[i], 1e-5);

  for (auto config :
       {model::default_windowed_mlp_config(7, 3), model::default_transformer_config(7, 3)}) {
    config.layers *= 2;
    const auto w = model::random_decision_weights(config, 9);
    const std::vector<std::vector<TokenId>> windows = {
        {6}, {1, 2, 3, 0, 5}, {1, 1, 2, 3, 5, 1, 6, 0}};
    std::vector<std::int32_t> ids;
    for (const auto& window : windows) {
      ids.insert(ids.end(), 8 - window.size(), -1);
      ids.insert(ids.end(), window.begin(), window.end());
    }
    mx::array logits = DecisionGraph(config, views(config, w), 0.0F, 0)
                           .logits(mx::array(ids.begin(), {3, 8}, mx::int32));
    logits.eval();
    for (int i = 0; i < 3; ++i) {
      std::vector<float> answer(3);
      ASSERT_TRUE(model::reference_logits(config, w, windows[i], answer));
      for (int a = 0; a < 3; ++a) {
        EXPECT_NEAR(logits.data<float>()[3 * i + a], answer[a], 1e-4)
            << model::decision_kind_name(config.kind);
      }
    }
  }
}

TEST(DecisionGraph, LossesAreThoseOfTheirFormulas) {
  const float scores[] = {1.0F, -2.0F, 0.5F};
  const std::int32_t places[] = {kNonePlace, 2, 3, kNonePlace, 4, kAbsentPlace};
  const std::int32_t target[] = {1, 0};  // the first of two; none of one
  const auto loss = [&](RankLoss kind) {
    return static_cast<double>(rank_loss(kind, mx::array(scores, {3}, mx::float32),
                                         mx::array(places, {2, 3}, mx::int32),
                                         mx::array(target, {2}, mx::int32))
                                   .item<float>());
  };
  const double first = std::log(1 + std::exp(1.0) + std::exp(-2.0)) - 1.0;
  const double second = std::log(1 + std::exp(0.5));
  EXPECT_NEAR(loss(RankLoss::ListNet), (first + second) / 2, 1e-5);
  const double pairs = (std::log1p(std::exp(0.0 - 1.0)) + std::log1p(std::exp(-2.0 - 1.0))) / 2;
  EXPECT_NEAR(loss(RankLoss::Pairwise), (pairs + std::log1p(std::exp(0.5))) / 2, 1e-5);
}

TEST(DecisionOptions, MeasuresFeaturesAndLeavesOutThoseThatNeverChange) {
  const auto groups = parse_ranking("#laya-ranking 1\n#features\ta\tb\n1\t1\t7\n0\t3\t7\n", "f");
  std::vector<float> mean(2), scale(2);
  measure_features(*groups, mean, scale);
  EXPECT_EQ(mean, (std::vector<float>{2.0F, 7.0F}));
  EXPECT_EQ(scale, (std::vector<float>{1.0F, 0.0F}));
  EXPECT_EQ(prepared_feature(100.0F, 2.0F, 1.0F), model::kFarthestFeature);
}

}  // namespace
}  // namespace laya::train

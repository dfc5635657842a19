// Trains decision models: the loop behind `laya train ranker`, `train mlp` and `train transformer`.
// Minutes at most on two cores. The same data, options and number of threads give the same weights.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/decision/decision_config.h"
#include "train/decision/decision_examples.h"
#include "train/decision/ranking_file.h"

namespace laya::train {

enum class RankLoss : std::uint8_t {
  ListNet,  ///< cross-entropy of softmax({0, scores}) with the right candidate, or with "none": the
            ///< top-one form of Cao et al. 2007. Its scores give probabilities
  Pairwise,  ///< logistic loss of every (right, other) pair, "none" one of them (Burges et al.
             ///< 2005)
};

/// "listnet", "pairwise".
Result<RankLoss> parse_rank_loss(std::string_view name);
std::string_view rank_loss_name(RankLoss loss);

struct DecisionTrainOptions {
  RankLoss loss = RankLoss::ListNet;  ///< rankers only
  std::uint32_t epochs = 30;          ///< at most
  std::uint32_t patience = 5;         ///< stops after so many epochs without a better dev loss
  std::uint32_t batch = 256;          ///< decisions a step
  float learning_rate = 3e-3F;        ///< at its peak; falls to zero along a half cosine
  float weight_decay = 0.01F;
  float dropout = 0.0F;  ///< of hidden units
  std::uint64_t seed = 1;
};

struct DecisionEpoch {
  std::uint32_t epoch = 0;  ///< 1 for the first
  double train_loss = 0;
  double dev_loss = 0;  ///< the same loss
  bool best = false;
};

using DecisionObserver = std::function<void(const DecisionEpoch&)>;

struct TrainedDecision {
  model::DecisionWeights weights;  ///< of the best epoch on dev
  std::vector<DecisionEpoch> curve;
  double seconds = 0;
};

/// `config.features` must be those of both files. Errors: BadArgument (options, or data that do not
/// fit the configuration), Unsupported (a build without MLX), Internal (the loss is no number).
Result<TrainedDecision> train_ranker(const model::DecisionConfig& config,
                                     const RankingGroups& train, const RankingGroups& dev,
                                     const DecisionTrainOptions& options,
                                     const DecisionObserver& observer);

/// A windowed MLP or a transformer.
Result<TrainedDecision> train_actions(const model::DecisionConfig& config,
                                      const DecisionExamples& train, const DecisionExamples& dev,
                                      const DecisionTrainOptions& options,
                                      const DecisionObserver& observer);

}  // namespace laya::train

// Stands in for decision_trainer.cpp in a build without MLX or oneDNN.
#include "train/decision/decision_options.h"
#include "train/decision/decision_trainer.h"

namespace laya::train {
namespace {

const Error kNoMlx{ErrorCode::Unsupported,
                   "train: this build has no MLX, so it cannot train (running a trained model "
                   "works). Remedy: scripts/setup training, then build again"};

}  // namespace

Result<TrainedDecision> train_ranker(const model::DecisionConfig&, const RankingGroups&,
                                     const RankingGroups&, const DecisionTrainOptions&,
                                     const DecisionObserver&) {
  return kNoMlx;
}

Result<TrainedDecision> train_actions(const model::DecisionConfig&, const DecisionExamples&,
                                      const DecisionExamples&, const DecisionTrainOptions&,
                                      const DecisionObserver&) {
  return kNoMlx;
}

}  // namespace laya::train

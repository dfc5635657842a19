// What training a decision model checks and measures before it begins; no MLX here.
#pragma once

#include <algorithm>
#include <vector>

#include "base/result.h"
#include "model/decision/decision_config.h"
#include "train/decision/decision_trainer.h"

namespace laya::train {

/// BadArgument: an option out of its range, data of another shape than the configuration's, or
/// nothing to learn from or to judge on.
Status check_ranker_data(const model::DecisionConfig& config, const RankingGroups& train,
                         const RankingGroups& dev, const DecisionTrainOptions& options);
Status check_action_data(const model::DecisionConfig& config, const DecisionExamples& train,
                         const DecisionExamples& dev, const DecisionTrainOptions& options);

/// Mean of each feature over all rows, and 1 / its deviation (0 for a feature that never changes:
/// it cannot tell candidates apart). The vectors have a number a feature.
void measure_features(const RankingGroups& groups, std::vector<float>& mean,
                      std::vector<float>& scale);

/// As the runtime does.
inline float prepared_feature(float value, float mean, float scale) {
  return std::clamp((value - mean) * scale, -model::kFarthestFeature, model::kFarthestFeature);
}

}  // namespace laya::train

// What both runners of a decision model refuse.
#pragma once

#include <span>

#include "base/result.h"
#include "base/token_id.h"
#include "model/decision/decision_config.h"

namespace laya::model {

/// A ranker, [candidates, F] features, all finite; else BadArgument.
Status check_decision_features(const DecisionConfig& config, std::span<const float> features,
                               std::size_t candidates);

/// The newest tokens that count, each known to the model; BadArgument where the model takes no
/// tokens, there are none, one is unknown, or `out` is not the number of actions.
Result<std::span<const TokenId>> check_decision_window(const DecisionConfig& config,
                                                       std::span<const TokenId> window,
                                                       std::size_t out);

/// Corrupt where an answer is no finite number.
Status check_decision_answer(const DecisionConfig& config, std::span<const float> out);

}  // namespace laya::model

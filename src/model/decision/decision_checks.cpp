#include "model/decision/decision_checks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

Error wrong_call(const DecisionConfig& config, const std::string& what) {
  return Error{ErrorCode::BadArgument,
               "decision model (" + std::string(decision_kind_name(config.kind)) + "): " + what};
}

}  // namespace

Status check_decision_features(const DecisionConfig& config, std::span<const float> features,
                               std::size_t candidates) {
  const std::size_t width = config.features.size();
  if (config.kind != DecisionKind::Ranker) {
    return wrong_call(config, "it has no features to score; it takes tokens");
  }
  if (features.size() / width != candidates || features.size() % width != 0) {
    return wrong_call(config, std::to_string(features.size()) + " features for " +
                                  std::to_string(candidates) + " candidates, each has " +
                                  std::to_string(width));
  }
  if (simd::all_finite(simd::best_kernels(), features)) {
    return {};
  }
  const auto at = std::ranges::find_if(features, [](float x) { return !std::isfinite(x); });
  const auto index = static_cast<std::size_t>(at - features.begin());
  return wrong_call(config, "feature " + config.features[index % width] + " of candidate " +
                                std::to_string(index / width) + " is NaN or infinite");
}

Result<std::span<const TokenId>> check_decision_window(const DecisionConfig& config,
                                                       std::span<const TokenId> window,
                                                       std::size_t out) {
  if (config.kind == DecisionKind::Ranker) {
    return wrong_call(config, "it takes features, not tokens");
  }
  if (out != config.actions) {
    return wrong_call(config, "room for " + std::to_string(out) + " logits, it has " +
                                  std::to_string(config.actions) + " actions");
  }
  if (window.empty()) {
    return wrong_call(config, "it needs at least one token");
  }
  const std::span<const TokenId> newest =
      window.last(std::min<std::size_t>(window.size(), config.window));
  // The token is not named: it would say what was typed.
  if (std::ranges::any_of(newest, [&](TokenId t) { return t >= config.vocabulary_size; })) {
    return wrong_call(
        config, "a token of the window is not below " + std::to_string(config.vocabulary_size));
  }
  return newest;
}

Status check_decision_answer(const DecisionConfig& config, std::span<const float> out) {
  if (simd::all_finite(simd::best_kernels(), out)) {
    return {};
  }
  return Error{ErrorCode::Corrupt, "decision model (" +
                                       std::string(decision_kind_name(config.kind)) +
                                       "): an answer is no finite number; the weights overflow"};
}

}  // namespace laya::model

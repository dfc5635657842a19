// ln p of whole sentences by the instant tier, for evaluation: network and n-gram table mixed token
// by token as the list does.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/gru/language_model.h"
#include "predict/engine/engine.h"

namespace laya::predict {

/// One thread at a time; the engine must outlive it.
class InstantScorer {
 public:
  explicit InstantScorer(const Engine& engine);

  /// log_probs[i] = ln p(candidates[i] | before), the text of a field's start. Errors of the
  /// network.
  Status score(std::string_view before, std::span<const std::string_view> candidates,
               std::span<float> log_probs);

 private:
  float table_log_prob(std::string_view before, std::string_view candidate) const;

  const Engine* engine_;
  std::unique_ptr<model::Workspace> workspace_;
  std::vector<model::State> states_;  // [16]
  std::vector<float> hidden_;
};

}  // namespace laya::predict

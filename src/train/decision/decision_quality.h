// How good a decision model's answers are, and how good one is that has learnt nothing.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "model/decision/decision_model.h"
#include "train/decision/decision_examples.h"
#include "train/decision/ranking_file.h"

namespace laya::train {

struct RankingQuality {
  std::size_t decisions = 0;
  std::size_t answerable = 0;  ///< those with a right candidate: top1 and mrr are over them
  double top1 = 0;             ///< share where the best score is the right one's
  double mrr = 0;              ///< mean of 1 / its rank
  double log_loss = 0;  ///< nats, mean of -ln softmax({0, scores})[right or none], all decisions
};

/// `scores` has one number a row of `groups`. Equal scores keep the order of the rows.
RankingQuality ranking_quality(const RankingGroups& groups, std::span<const float> scores);
/// Of the order in which the candidates stand in the file; log_loss is that of the shares with
/// which each place (or none) was right, known beforehand.
RankingQuality order_quality(const RankingGroups& groups);

struct ActionQuality {
  std::size_t decisions = 0;
  double accuracy = 0;
  double log_loss = 0;  ///< nats
};

/// `logits` is [decisions, A].
ActionQuality action_quality(const DecisionExamples& examples, std::size_t actions,
                             std::span<const float> logits);
/// Of always choosing what is right most often in `learnt` (the training examples), judged on
/// `examples`; log_loss is that of the shares there.
ActionQuality majority_quality(const DecisionExamples& learnt, const DecisionExamples& examples);

/// What `model` answers to all of them: what is judged is what runs. BadArgument where the
/// features' names differ, or a token or action lies beyond the model.
Result<std::vector<float>> all_scores(const model::DecisionModel& model,
                                      const RankingGroups& groups);
Result<std::vector<float>> all_logits(const model::DecisionModel& model,
                                      const DecisionExamples& examples);

}  // namespace laya::train

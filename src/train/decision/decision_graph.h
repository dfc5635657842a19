// Decision models as MLX graphs: what training differentiates. The mathematics is that of
// src/model/decision/decision_reference.cpp. Built only where MLX is.
#pragma once

#include <string_view>
#include <vector>

#include "mlx/array.h"
#include "model/decision/decision_config.h"
#include "train/decision/decision_trainer.h"

namespace laya::train {

namespace mx = mlx::core;

/// One model's graph over weights in the order of model::decision_tensors(). A wrong shape throws,
/// as MLX's own ops do; the trainer turns that into an Error.
class DecisionGraph {
 public:
  /// `config` must be valid and outlive the object. `dropout` with `seed` is applied to hidden
  /// units.
  DecisionGraph(const model::DecisionConfig& config, std::vector<mx::array> weights, float dropout,
                std::uint64_t seed);

  /// Ranker: prepared features [N, F] (decision_options.h: scaled and clamped) ▶ scores [N].
  mx::array scores(const mx::array& features) const;

  /// The others: ids int32 [B, W], oldest first, -1 where there is no token (at the front) ▶ logits
  /// [B, A].
  mx::array logits(const mx::array& ids) const;

 private:
  const mx::array& get(std::string_view name) const;
  mx::array hidden(mx::array x) const;
  mx::array answer(const mx::array& x) const;
  mx::array windowed_mlp(const mx::array& ids) const;
  mx::array transformer(const mx::array& ids) const;
  mx::array block(const mx::array& x, const mx::array& mask, std::size_t layer) const;
  mx::array drop(const mx::array& x, std::uint64_t place) const;

  const model::DecisionConfig& config_;
  std::vector<model::DecisionTensor> tensors_;
  std::vector<mx::array> weights_;
  float dropout_;
  std::uint64_t seed_;
};

/// Which scores belong to which decision: int32 [G, M], each the place of a score, kNonePlace for
/// the imagined "none" of score 0 (column 0 of every decision) or kAbsentPlace.
inline constexpr int kNonePlace = 0;
inline constexpr int kAbsentPlace = 1;
inline constexpr int kFirstScorePlace = 2;  ///< score i stands at place i + 2

/// Mean over the decisions, nats. `target` int32 [G]: the right column.
mx::array rank_loss(RankLoss kind, const mx::array& scores, const mx::array& places,
                    const mx::array& target);

/// Mean cross-entropy of logits [B, A] with target int32 [B], nats.
mx::array action_loss(const mx::array& logits, const mx::array& target);

}  // namespace laya::train

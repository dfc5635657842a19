// Stands in for gru_trainer.cpp in a build without MLX or oneDNN.
#include "train/gru/gru_trainer.h"

namespace laya::train {

Result<TrainSummary> train_gru(const TrainOptions&, Start, TrainObserver&,
                               const std::atomic<bool>&) {
  return Error{ErrorCode::Unsupported,
               "train gru: this build has no MLX, so it cannot train the network (predicting and "
               "`laya train ngram` work). "
               "Remedy: scripts/setup training, then build again"};
}

}  // namespace laya::train

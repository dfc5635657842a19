// Times the network alone: one token and all logits, against reading its weights.
#pragma once

#include <string>

#include "base/result.h"
#include "laya/bench/bench_keys.h"
#include "model/gru/language_model.h"

namespace laya::apps {

/// Medians, one model.
struct StepFigures {
  std::size_t weights_bytes = 0;
  double step_us = 0;  ///< one thread
  double two_threads_us = 0;
  double floor_us = 1;  ///< reading weights_bytes once, one thread, in turn with the steps
};

struct StepTimes {
  std::string kernels;  ///< backend_name()
  Quantiles step;       ///< of the shipped model, one thread
  StepFigures shipped;
  StepFigures int8;  ///< the same shape, random weights: speed does not depend on their values
  StepFigures int4;
};

/// Internal when the model's logits are not those of the reference backend (top-1 on a fixed
/// sequence), or two threads give another result than one.
Result<StepTimes> time_network(const model::LanguageModel& network, const std::string& path);

}  // namespace laya::apps

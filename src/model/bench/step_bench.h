// How long one step takes on this machine, against the time to read its weights: what `laya bench`
// prints and the README quotes.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "model/gru/language_model.h"
#include "model/gru/quantize.h"

namespace laya::model {

struct StepTiming {
  std::size_t weights_bytes = 0;  ///< read by one step with all logits
  double step_us = 0;             ///< median of advance and all logits
  double step_p99_us = 0;
  double body_us = 0;   ///< median of advance alone
  double floor_us = 0;  ///< median of reading as many bytes with simd::stream_read on one thread

  double ratio() const { return step_us / floor_us; }
};

/// Runs `model` over a fixed sequence of tokens in five turns of `steps` steps each, and reads
/// weights_bytes of other memory in turn with it, so that both see the same machine; the first
/// steps of a turn, which find cold caches, are not counted.
Result<StepTiming> time_steps(const LanguageModel& model, Threads threads, std::size_t steps = 100);

/// Internal where the two models, of one file on two backends, do not say the same on a fixed
/// sequence (the best row of `theirs` must be among the first ten of `ours`: quantised weights may
/// swap neighbours), or where `ours` says something else on two threads than on one.
Status check_same_answers(const LanguageModel& ours, const LanguageModel& theirs);

/// A model of `config` with random weights in this precision: speed does not depend on their
/// values, so it can be measured before anything is trained.
Result<std::unique_ptr<LanguageModel>> random_cpu_model(const GruConfig& config,
                                                        const Precision& precision);

}  // namespace laya::model

// `laya quantize` of a decision model.
#pragma once

#include <string>

#include "common/command.h"
#include "format/model_file.h"
#include "model/gru/quantize.h"

namespace laya::apps {

struct QuantizeDecisionOptions {
  std::string out;
  std::string examples;  ///< decisions to compare on: a ranking file or JSONL; empty: none
  bool json = false;
};

/// Writes options.out and says how large it is, and how often it decides as the exact model does.
void quantize_decision(const format::ModelFile& file, const model::QuantizeRecipe& recipe,
                       const QuantizeDecisionOptions& options, Outcome& outcome);

}  // namespace laya::apps

// A small decision model from an fp32 one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "format/model_file.h"
#include "model/gru/quantize.h"

namespace laya::model {

/// Writes `path`: every matrix of the decision model `file` as the recipe says, the small tensors
/// (decision_config.h) and anything else as they are, the metadata with "quantization" added.
/// BadArgument where the recipe names no matrix of it, or a matrix is quantised already; errors of
/// load_decision_weights.
Status quantize_decision_file(const format::ModelFile& file, const std::string& path,
                              const QuantizeRecipe& recipe);

}  // namespace laya::model

// GruLocal through MLX: the executor for GPUs, and a second opinion on every CPU. A build without
// MLX compiles no_gru_mlx_backend.cpp instead of gru_mlx_backend.cpp (chosen by CMake) and says
// Unsupported.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/language_model.h"

namespace laya::model {

enum class MlxWeights {
  Float32,
  Int8,  ///< mx::quantize, groups of 64, for matrices whose rows divide into them
};

/// `config` must be valid and fit `weights`, which are copied into MLX arrays. Unsupported in a
/// build without MLX; Internal with MLX's words where it throws. Calls of one model are serialised
/// by a mutex: MLX's streams are not for several threads.
Result<std::unique_ptr<LanguageModel>> make_mlx_model(const GruConfig& config,
                                                      OwnedFloatWeights weights,
                                                      MlxWeights precision);

}  // namespace laya::model

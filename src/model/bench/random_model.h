// Models with random weights: for tests, golden vectors and speed measurements before anything is
// trained.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/gru/gru_config.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/gru_weights.h"

namespace laya::model {

/// Weights that depend on `config` and `seed` only, the same on every machine: matrices uniform
/// with the variance of a trained network (1/columns), norms around 1, biases small. `config` must
/// be valid.
OwnedFloatWeights random_weights(const GruConfig& config, std::uint64_t seed);

/// Writes fp32 weights as a .laya file (no vocabulary). `generator` is what the metadata say made
/// it.
Status write_model(const std::string& path, const GruConfig& config, const FloatWeights& weights,
                   std::string_view generator);

/// The shape of the model in testdata/model: everything odd about it is meant (rows not a multiple
/// of 16, columns not of a group).
GruConfig tiny_gru_config();

}  // namespace laya::model

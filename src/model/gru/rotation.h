// Turns the embedding space before quantising, so that no dimension stands out; the model stays the
// same.
#pragma once

#include "model/gru/gru_config.h"
#include "model/gru/gru_reference_backend.h"

namespace laya::model {

/// The same model with embedding, in_proj and out_proj in other coordinates: E' = E S R, in_proj' =
/// in_proj S⁻¹ R, out_proj' = Rᵀ S⁻¹ out_proj, where S is diagonal (it balances the sizes of E and
/// y) and R orthogonal (a Hadamard matrix with fixed random signs; Ashkboos et al. 2024, "QuaRot").
/// Scores and states are unchanged up to fp32 rounding, and a step costs the same. Why: training
/// gives y one dimension 16 times as large as the others, which spoils the int8 scale of its whole
/// group; turned, it is spread over all of them. Needs no data.
/// Where e is no power of two the result is a copy of the views. `weights` must outlive the result.
OwnedFloatWeights rotated_embedding(const GruConfig& config, const FloatWeights& weights);

}  // namespace laya::model

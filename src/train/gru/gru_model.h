// GruLocal as an MLX graph: the forward pass that training differentiates and dev evaluation runs.
// The mathematics is that of gru_reference_backend.cpp; here it is laid out time-major over
// whole chunks. Built only where MLX is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/gru/gru_carry.h"
#include "train/gru/gru_parameters.h"
#include "train/gru/sampler.h"
#include "train/mlx/precision.h"
#include "train/text/batcher.h"

namespace laya::train {

enum class HeadKind {
  Sampled,  ///< the batch's targets and some thousand drawn classes: half the work of a small model
  Full,     ///< all of the vocabulary
};

/// How one training step is computed.
struct StepOptions {
  Precision precision = Precision::Fp32;
  HeadKind head = HeadKind::Full;
  const CandidateSampler* sampler = nullptr;  ///< needed for HeadKind::Sampled
  float dropout = 0.0F;
  std::uint64_t seed = 0;  ///< of this step's dropout masks and candidates
};

/// What one training step gives. `gradients[i]` belongs to parameters.tensors()[i].
struct StepResult {
  double loss = 0.0;  ///< nats a token, of the head that was used
  std::vector<std::vector<float>> gradients;
};

/// Loss and gradients of `batch` from `carry`, which becomes what the next chunk starts from.
/// Errors Internal: MLX refused (the message is its own). One thread at a time per process: MLX has
/// one CPU stream.
Status gru_step(const GruParameters& parameters, const Batch& batch, const StepOptions& options,
                GruCarry& carry, StepResult& result);

/// -log p(target) in nats of each element of `batch` [T, B] from the zero state, full head, no
/// dropout. A target of -1 is padding: its value is meaningless.
Result<std::vector<float>> gru_evaluate(const GruParameters& parameters, const Batch& batch,
                                        Precision precision);

}  // namespace laya::train

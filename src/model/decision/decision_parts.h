// The weights of a decision model as the kernels read them, and the passes over them; private to
// decision_model.cpp, decision_mlp.cpp and decision_transformer.cpp.
#pragma once

#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/token_id.h"
#include "format/model_file.h"
#include "model/core/aligned_bytes.h"
#include "model/core/columns.h"
#include "model/core/workspace.h"
#include "model/decision/decision_config.h"
#include "simd/activations.h"
#include "simd/kernels.h"

namespace laya::model {

struct DecisionParts {
  struct Hidden {
    simd::PackedMatrix weight;
    std::span<const float> bias;
  };
  struct Block {
    std::span<const float> attn_norm, ffn_norm;
    simd::PackedMatrix w_q, w_kv, w_o, w_gate, w_up, w_down;
  };

  DecisionParts(format::ModelFile taken, DecisionConfig read, const simd::Kernels& table)
      : file(std::move(taken)), config(std::move(read)), kernels(table) {}

  format::ModelFile file;
  DecisionConfig config;
  const simd::Kernels& kernels;
  std::vector<AlignedBytes> storage;  ///< of matrices that the file does not hold packed
  std::size_t weights_bytes = 0;

  std::span<const float> mean, scale;  // Ranker
  std::vector<Hidden> hidden;          // Ranker, WindowedMlp
  simd::PackedMatrix skip;             // Ranker
  simd::PackedMatrix embedding;        // the others
  std::span<const float> position;     // Transformer: [W, e], by age, 0 = the newest token
  std::vector<Block> blocks;
  std::span<const float> final_norm;
  simd::PackedMatrix out;
  std::span<const float> out_bias;
};

/// Scratch of all kinds; what a kind does not need has length 0 or 1.
class DecisionWorkspace final : public Workspace {
 public:
  explicit DecisionWorkspace(const DecisionParts& parts);

  Columns input;    ///< features, concatenated vectors, or the tokens' stream
  Columns wide[2];  ///< layer by layer in turn
  std::vector<float> ones;
  simd::Activations activations;
  // Transformer, [W][…]
  std::vector<float> stream, normed, query, keys_values, mixed, delta, gate, up;
  AlignedBytes key_plane, value_plane;
  std::vector<std::uint32_t> slots;
  std::vector<float> scratch;
};

/// Scores of up to kMaxColumns candidates.
void score_candidates(const DecisionParts& parts, DecisionWorkspace& workspace,
                      std::span<const float> features, std::span<float> out);
/// Logits after 1..W tokens that the model knows.
void windowed_mlp_logits(const DecisionParts& parts, DecisionWorkspace& workspace,
                         std::span<const TokenId> window, std::span<float> out);
void transformer_logits(const DecisionParts& parts, DecisionWorkspace& workspace,
                        std::span<const TokenId> window, std::span<float> out);

}  // namespace laya::model

// Where each tensor of a GruLocal stands: one list of names and shapes for the trainer's export,
// the quantiser and every backend.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/gru/gru_config.h"

namespace laya::model {

/// All weights of a model, immutable once loaded. `Matrix` is how a backend holds a matrix [rows,
/// columns] (fp32, packed, …); vectors are always fp32. Views only: whoever made this keeps the
/// numbers alive. Shapes in the config's letters.
template <typename Matrix>
struct GruWeights {
  struct Layer {
    std::span<const float> gru_norm;   ///< [d]
    Matrix w_ih;                       ///< [3d, d], rows r, z, n
    Matrix w_hh;                       ///< [3d, d]
    std::span<const float> b_ih;       ///< [3d]
    std::span<const float> b_hh;       ///< [3d]
    std::span<const float> attn_norm;  ///< [d]
    Matrix w_qkv;  ///< [3*H*k, d], rows q of all heads, then k, then v; head-major
    std::span<const float> rel_bias;  ///< [H, W], by distance 0 … W-1
    Matrix w_o;                       ///< [d, H*k]
  };

  Matrix embedding;                   ///< [V, e], tied: input rows and output scores
  Matrix in_proj;                     ///< [d, e]
  std::vector<Layer> layers;          ///< [L]
  std::span<const float> final_norm;  ///< [d]
  Matrix out_proj;                    ///< [e, d]
  std::span<const float> out_bias;    ///< [V]
};

/// What a tensor is to the quantiser and to the loader.
enum class TensorRole {
  Matrix,  ///< [rows, columns]; may be fp32, fp16, int8 or int4
  Vector,  ///< anything small that stays fp32 (rel_bias, though [H, W], is one)
};

struct TensorSpec {
  std::string name;
  TensorRole role;
  std::vector<std::uint32_t> shape;  ///< outermost first
};

/// Every tensor of a model of this shape, in the order in which a step reads them. Nothing else
/// belongs into a file's weights.
std::vector<TensorSpec> tensor_specs(const GruConfig& config);

/// "layers.<layer>.<rest>".
std::string layer_tensor(std::size_t layer, const char* rest);

/// Fills a GruWeights through two functions of (name, rows, columns) → Result<Matrix> and (name,
/// shape) → Result<span<const float>>; stops at the first error.
template <typename Matrix, typename LoadMatrix, typename LoadVector>
Result<GruWeights<Matrix>> gather_weights(const GruConfig& config, LoadMatrix&& load_matrix,
                                          LoadVector&& load_vector) {
  GruWeights<Matrix> weights;
  weights.layers.resize(config.layers);
  Status status;
  const auto matrix = [&](Matrix& into, const std::string& name, std::size_t rows,
                          std::size_t columns) {
    if (!status) {
      return;
    }
    auto loaded =
        load_matrix(name, static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns));
    if (loaded) {
      into = *loaded;
    } else {
      status = loaded.error();
    }
  };
  const auto vector = [&](std::span<const float>& into, const std::string& name,
                          const std::vector<std::uint32_t>& shape) {
    if (!status) {
      return;
    }
    auto loaded = load_vector(name, std::span<const std::uint32_t>(shape));
    if (loaded) {
      into = *loaded;
    } else {
      status = loaded.error();
    }
  };
  const std::uint32_t v = config.vocabulary_size, e = config.embedding_dim, d = config.hidden_dim;
  const auto a = static_cast<std::uint32_t>(config.attention_dim());
  matrix(weights.embedding, "embedding.weight", v, e);
  matrix(weights.in_proj, "in_proj.weight", d, e);
  for (std::size_t l = 0; l < config.layers; ++l) {
    auto& layer = weights.layers[l];
    vector(layer.gru_norm, layer_tensor(l, "gru_norm.weight"), {d});
    matrix(layer.w_ih, layer_tensor(l, "gru.w_ih"), 3 * d, d);
    matrix(layer.w_hh, layer_tensor(l, "gru.w_hh"), 3 * d, d);
    vector(layer.b_ih, layer_tensor(l, "gru.b_ih"), {3 * d});
    vector(layer.b_hh, layer_tensor(l, "gru.b_hh"), {3 * d});
    vector(layer.attn_norm, layer_tensor(l, "attn_norm.weight"), {d});
    matrix(layer.w_qkv, layer_tensor(l, "attn.w_qkv"), 3 * a, d);
    vector(layer.rel_bias, layer_tensor(l, "attn.rel_bias"), {config.heads, config.window});
    matrix(layer.w_o, layer_tensor(l, "attn.w_o"), d, a);
  }
  vector(weights.final_norm, "final_norm.weight", {d});
  matrix(weights.out_proj, "out_proj.weight", e, d);
  vector(weights.out_bias, "out_bias", {v});
  if (!status) {
    return status.error();
  }
  return weights;
}

}  // namespace laya::model

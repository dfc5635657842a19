// The trained numbers of a GruLocal model, with their optimiser moments, as plain memory: no MLX
// here, so that checkpoints, export and tests need none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/gru/gru_config.h"
#include "train/mlx/optimizer.h"

namespace laya::train {

/// One tensor. `value`, `first_moment` and `second_moment` have as many elements as `shape` says,
/// row-major.
struct Parameter {
  std::string name;  ///< as stored in `.laya`
  std::vector<std::uint32_t> shape;
  WeightDecay decay = WeightDecay::Apply;
  std::vector<float> value;
  std::vector<float> first_moment;
  std::vector<float> second_moment;
};

/// Where each tensor stands in GruParameters::tensors().
struct GruLayerIndex {
  std::size_t gru_norm, w_ih, w_hh, b_ih, b_hh, attn_norm, w_qkv, rel_bias, w_o;
};
struct GruIndex {
  std::size_t embedding, in_proj, final_norm, out_proj, out_bias;
  std::vector<GruLayerIndex> layers;
};

class GruParameters {
 public:
  /// All tensors of `config` (valid), zero; call initialise() or fill them from a file.
  explicit GruParameters(const model::GruConfig& config);

  /// Random start from `seed`: normal, scaled so that activations and logits start near unit
  /// variance; norms at 1; the GRU's update gate biased towards keeping its state; out_bias = log
  /// of `unigram` (relative counts [V], may be empty), which saves the first thousand steps from
  /// learning which pieces are frequent.
  void initialise(std::uint64_t seed, std::span<const double> unigram);

  const model::GruConfig& config() const { return config_; }
  const GruIndex& index() const { return index_; }
  std::vector<Parameter>& tensors() { return tensors_; }
  const std::vector<Parameter>& tensors() const { return tensors_; }
  std::uint64_t count() const;

 private:
  std::size_t add(std::string name, std::vector<std::uint32_t> shape, WeightDecay decay);

  model::GruConfig config_;
  GruIndex index_;
  std::vector<Parameter> tensors_;
};

}  // namespace laya::train

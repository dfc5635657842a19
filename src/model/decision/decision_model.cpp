#include "model/decision/decision_model.h"

#include <algorithm>
#include <utility>

#include "model/core/tensor_lookup.h"
#include "model/decision/decision_checks.h"
#include "model/decision/decision_parts.h"
#include "model/gru/weights_loading.h"
#include "simd/dispatch.h"
#include "simd/kv_attention.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using format::ModelFile;

/// Finds the tensors of one file.
class Loader {
 public:
  explicit Loader(DecisionParts& parts) : parts_(parts) {}

  std::span<const float> vector(const std::string& name, std::vector<std::uint32_t> shape) {
    if (!status_) return {};
    auto found = find_vector(parts_.file, name, shape);
    if (!found) {
      status_ = found.error();
      return {};
    }
    parts_.weights_bytes += found->size_bytes();
    return *found;
  }

  simd::PackedMatrix matrix(const std::string& name, std::size_t rows, std::size_t columns) {
    simd::PackedMatrix result = lookup(name, rows, columns);
    parts_.weights_bytes += result.blocks * result.block_bytes;
    return result;
  }

  /// One that is read by rows.
  simd::PackedMatrix table(const std::string& name, std::size_t rows, std::size_t columns) {
    return lookup(name, rows, columns);
  }

  const Status& status() const { return status_; }

 private:
  simd::PackedMatrix lookup(const std::string& name, std::size_t rows, std::size_t columns) {
    if (!status_) return {};
    auto found = load_packed_matrix(parts_.file, name, static_cast<std::uint32_t>(rows),
                                    static_cast<std::uint32_t>(columns), simd::WeightType::Fp32,
                                    parts_.storage);
    if (!found) {
      status_ = found.error();
      return {};
    }
    return *found;
  }

  DecisionParts& parts_;
  Status status_;
};

Status load_parts(DecisionParts& parts) {
  Loader load(parts);
  const DecisionConfig& config = parts.config;
  const std::uint32_t e = config.embedding_dim;
  std::size_t width = std::size_t{config.window} * e;
  if (config.kind == DecisionKind::Ranker) {
    const auto f = static_cast<std::uint32_t>(config.features.size());
    parts.mean = load.vector("input.mean", {f});
    parts.scale = load.vector("input.scale", {f});
    parts.skip = load.matrix("skip.weight", 1, f);
    width = f;
  } else {
    parts.embedding = load.table("embedding.weight", config.vocabulary_size, e);
  }
  if (config.kind == DecisionKind::Transformer) {
    parts.position = load.vector("position.weight", {config.window, e});
    for (std::uint32_t l = 0; l < config.layers && load.status(); ++l) {
      const std::string at = "layers." + std::to_string(l) + ".";
      DecisionParts::Block& block = parts.blocks.emplace_back();
      block.attn_norm = load.vector(at + "attn_norm.weight", {e});
      block.w_q = load.matrix(at + "attn.w_q", config.attention_dim(), e);
      block.w_kv = load.matrix(at + "attn.w_kv", 2 * config.attention_dim(), e);
      block.w_o = load.matrix(at + "attn.w_o", e, config.attention_dim());
      block.ffn_norm = load.vector(at + "ffn_norm.weight", {e});
      block.w_gate = load.matrix(at + "ffn.w_gate", config.ffn_dim, e);
      block.w_up = load.matrix(at + "ffn.w_up", config.ffn_dim, e);
      block.w_down = load.matrix(at + "ffn.w_down", e, config.ffn_dim);
    }
    parts.final_norm = load.vector("final_norm.weight", {e});
    width = e;
  } else {
    for (std::size_t l = 0; l < config.hidden.size() && load.status(); ++l) {
      const std::string at = "hidden." + std::to_string(l);
      DecisionParts::Hidden& layer = parts.hidden.emplace_back();
      layer.weight = load.matrix(at + ".weight", config.hidden[l], width);
      layer.bias = load.vector(at + ".bias", {config.hidden[l]});
      width = config.hidden[l];
    }
  }
  const std::uint32_t answers = config.kind == DecisionKind::Ranker ? 1 : config.actions;
  parts.out = load.matrix("out.weight", answers, width);
  parts.out_bias = load.vector("out.bias", {answers});
  return load.status();
}

std::size_t input_length(const DecisionConfig& config) {
  switch (config.kind) {
    case DecisionKind::Ranker:
      return config.features.size();
    case DecisionKind::WindowedMlp:
      return std::size_t{config.window} * config.embedding_dim;
    default:
      return 1;
  }
}

std::size_t widest(const DecisionConfig& config) {
  const bool transformer = config.kind == DecisionKind::Transformer;
  return transformer ? 1 : *std::ranges::max_element(config.hidden);
}

std::size_t longest_vector(const DecisionConfig& config) {
  if (config.kind == DecisionKind::Transformer) {
    return std::max(
        {std::size_t{config.embedding_dim}, config.attention_dim(), std::size_t{config.ffn_dim}});
  }
  return std::max(input_length(config), widest(config));
}

std::size_t plane_bytes(const DecisionConfig& config) {
  return config.kind == DecisionKind::Transformer
             ? simd::kv_plane_bytes(simd::KvStorage::Fp32, config.heads, config.window,
                                    config.head_dim)
             : 0;
}

}  // namespace

DecisionWorkspace::DecisionWorkspace(const DecisionParts& parts)
    : input(input_length(parts.config)),
      wide{Columns(widest(parts.config)), Columns(widest(parts.config))},
      ones(kMaxColumns * widest(parts.config), 1.0F),
      activations(longest_vector(parts.config), kMaxColumns),
      key_plane(plane_bytes(parts.config)),
      value_plane(plane_bytes(parts.config)) {
  const DecisionConfig& config = parts.config;
  if (config.kind != DecisionKind::Transformer) {
    return;
  }
  const std::size_t w = config.window, e = config.embedding_dim, a = config.attention_dim();
  for (std::vector<float>* values : {&stream, &normed, &delta}) {
    values->resize(w * e);
  }
  for (std::vector<float>* values : {&query, &mixed}) {
    values->resize(w * a);
  }
  keys_values.resize(w * 2 * a);
  gate.resize(w * config.ffn_dim);
  up.resize(w * config.ffn_dim);
  scratch.resize(simd::kv_attention_scratch(w));
  for (std::uint32_t slot = 0; slot < config.window; ++slot) {
    slots.push_back(slot);
  }
}

DecisionModel::DecisionModel(std::unique_ptr<const DecisionParts> parts)
    : parts_(std::move(parts)) {}

DecisionModel::~DecisionModel() = default;

Result<std::unique_ptr<const DecisionModel>> DecisionModel::load(ModelFile file,
                                                                 const simd::Kernels& kernels) {
  auto config = read_decision_config(file);
  if (!config) {
    return config.error();
  }
  auto parts = std::make_unique<DecisionParts>(std::move(file), std::move(*config), kernels);
  if (Status status = load_parts(*parts); !status) {
    return status.error();
  }
  return std::unique_ptr<const DecisionModel>(new DecisionModel(std::move(parts)));
}

Result<std::unique_ptr<const DecisionModel>> DecisionModel::load(ModelFile file) {
  return load(std::move(file), simd::best_kernels());
}

Result<std::unique_ptr<const DecisionModel>> DecisionModel::open(const std::string& path) {
  auto file = ModelFile::open(path);
  if (!file) {
    return file.error();
  }
  return load(std::move(*file));
}

const DecisionConfig& DecisionModel::config() const { return parts_->config; }

std::size_t DecisionModel::weights_bytes() const { return parts_->weights_bytes; }

std::unique_ptr<Workspace> DecisionModel::make_workspace() const {
  return std::make_unique<DecisionWorkspace>(*parts_);
}

Status DecisionModel::scores(Workspace& workspace, std::span<const float> features,
                             std::span<float> out) const {
  const DecisionConfig& config = parts_->config;
  if (Status status = check_decision_features(config, features, out.size()); !status) {
    return status;
  }
  auto& scratch = static_cast<DecisionWorkspace&>(workspace);
  const std::size_t width = config.features.size();
  for (std::size_t first = 0; first < out.size(); first += kMaxColumns) {
    const std::size_t count = std::min(kMaxColumns, out.size() - first);
    score_candidates(*parts_, scratch, features.subspan(first * width, count * width),
                     out.subspan(first, count));
  }
  return check_decision_answer(config, out);
}

Status DecisionModel::logits(Workspace& workspace, std::span<const TokenId> window,
                             std::span<float> out) const {
  const DecisionConfig& config = parts_->config;
  const auto newest = check_decision_window(config, window, out.size());
  if (!newest) {
    return newest.error();
  }
  auto& scratch = static_cast<DecisionWorkspace&>(workspace);
  if (config.kind == DecisionKind::WindowedMlp) {
    windowed_mlp_logits(*parts_, scratch, *newest, out);
  } else {
    transformer_logits(*parts_, scratch, *newest, out);
  }
  return check_decision_answer(config, out);
}

}  // namespace laya::model

#include "model/random_model.h"

#include <cmath>

#include "format/model_writer.h"
#include "model/model_loading.h"
#include "model/split_mix.h"

namespace laya::model {
namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return std::string_view(text).ends_with(end);
}

}  // namespace

OwnedFloatWeights random_weights(const GruConfig& config, std::uint64_t seed) {
  OwnedFloatWeights owned;
  SplitMix random(seed);
  const auto fill = [&](std::size_t count, float scale, float offset) -> std::span<const float> {
    std::vector<float>& numbers = owned.storage.emplace_back(count);
    for (float& number : numbers) {
      number = offset + scale * random.next();
    }
    return numbers;
  };
  const auto matrix = [&](const std::string& name, std::uint32_t rows,
                          std::uint32_t columns) -> Result<FloatMatrix> {
    // Uniform in ±b has variance b²/3. The embedding is larger, so that scores spread as a trained
    // model's do.
    const float unit = std::sqrt(3.0F / static_cast<float>(columns));
    const float scale = name == "embedding.weight" ? 3.0F * unit : unit;
    return FloatMatrix{fill(std::size_t{rows} * columns, scale, 0.0F), rows, columns};
  };
  const auto vector = [&](const std::string& name,
                          std::span<const std::uint32_t> shape) -> Result<std::span<const float>> {
    std::size_t count = 1;
    for (const std::uint32_t dimension : shape) {
      count *= dimension;
    }
    return ends_with(name, "norm.weight") ? fill(count, 0.2F, 1.0F) : fill(count, 0.3F, 0.0F);
  };
  auto weights =
      gather_weights<FloatMatrix>(config, matrix, vector);  // cannot fail: neither function does
  owned.weights = std::move(*weights);
  return owned;
}

std::span<const float> tensor_numbers(const GruConfig& config, const FloatWeights& weights,
                                      std::string_view name) {
  if (name == "embedding.weight") return weights.embedding.data;
  if (name == "in_proj.weight") return weights.in_proj.data;
  if (name == "out_proj.weight") return weights.out_proj.data;
  if (name == "final_norm.weight") return weights.final_norm;
  if (name == "out_bias") return weights.out_bias;
  for (std::size_t l = 0; l < config.layers; ++l) {
    const std::string start = layer_tensor(l, "");
    if (!name.starts_with(start)) {
      continue;
    }
    const auto& layer = weights.layers[l];
    const std::string_view rest = name.substr(start.size());
    if (rest == "gru_norm.weight") return layer.gru_norm;
    if (rest == "gru.w_ih") return layer.w_ih.data;
    if (rest == "gru.w_hh") return layer.w_hh.data;
    if (rest == "gru.b_ih") return layer.b_ih;
    if (rest == "gru.b_hh") return layer.b_hh;
    if (rest == "attn_norm.weight") return layer.attn_norm;
    if (rest == "attn.w_qkv") return layer.w_qkv.data;
    if (rest == "attn.rel_bias") return layer.rel_bias;
    if (rest == "attn.w_o") return layer.w_o.data;
  }
  return {};
}

Status write_model(const std::string& path, const GruConfig& config, const FloatWeights& weights,
                   std::string_view generator) {
  auto writer = format::ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  for (const TensorSpec& spec : tensor_specs(config)) {
    if (auto status =
            writer->add_f32(spec.name, spec.shape, tensor_numbers(config, weights, spec.name));
        !status) {
      return status;
    }
  }
  const std::string metadata = "{\"architecture\":\"" + std::string(kGruLocal) +
                               "\",\"config\":" + config_json(config) + ",\"generator\":\"" +
                               std::string(generator) + "\"}";
  if (auto status = writer->set_metadata(metadata); !status) {
    return status;
  }
  return writer->finish();
}

GruConfig tiny_gru_config() {
  GruConfig config;
  config.vocabulary_size = 91;
  config.embedding_dim = 28;
  config.hidden_dim = 36;
  config.layers = 2;
  config.heads = 2;
  config.head_dim = 8;
  config.window = 3;
  return config;
}

}  // namespace laya::model

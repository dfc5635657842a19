#include "model/bench/random_model.h"

#include <cmath>

#include "format/model_writer.h"
#include "model/core/split_mix.h"
#include "model/gru/model_loading.h"

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

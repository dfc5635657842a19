#include "model/gru/gru_weights.h"

namespace laya::model {

std::string layer_tensor(std::size_t layer, const char* rest) {
  return "layers." + std::to_string(layer) + "." + rest;
}

std::vector<TensorSpec> tensor_specs(const GruConfig& config) {
  struct Nothing {};
  std::vector<TensorSpec> specs;
  const auto note_matrix = [&](const std::string& name, std::uint32_t rows,
                               std::uint32_t columns) -> Result<Nothing> {
    specs.push_back({name, TensorRole::Matrix, {rows, columns}});
    return Nothing{};
  };
  const auto note_vector =
      [&](const std::string& name,
          std::span<const std::uint32_t> shape) -> Result<std::span<const float>> {
    specs.push_back({name, TensorRole::Vector, {shape.begin(), shape.end()}});
    return std::span<const float>{};
  };
  const auto walked = gather_weights<Nothing>(config, note_matrix, note_vector);
  static_cast<void>(walked.has_value());  // the two functions above cannot fail
  return specs;
}

}  // namespace laya::model

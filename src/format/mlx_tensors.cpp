#include "format/mlx_tensors.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "format/metadata.h"
#include "format/quantised_blocks.h"

namespace laya::format {
namespace {

constexpr std::string_view kScales = ".scales";
constexpr std::string_view kBiases = ".biases";
constexpr std::string_view kWeight = ".weight";
constexpr std::uint32_t kMaxConfigDepth = 32;

struct Groups {
  std::uint64_t group = 0;
  std::uint64_t bits = 0;
};

Error error(ErrorCode code, std::string_view name, std::string what) {
  return {code, std::string(name) + ": " + std::move(what)};
}

/// The object that MLX writes, or null: "quantization", in older folders only
/// "quantization_config".
const nlohmann::json* quantisation(const nlohmann::json& config) {
  for (const char* key : {"quantization", "quantization_config"}) {
    const auto found = config.find(key);
    if (found != config.end() && found->is_object() && found->contains("group_size") &&
        found->contains("bits") && !found->contains("quant_method")) {
      return &*found;
    }
  }
  return nullptr;
}

Result<nlohmann::json> parse_config(std::string_view config_json, std::string_view name) {
  Result<nlohmann::json> config = parse_json(config_json, kMaxConfigDepth);
  if (!config) {
    return error(ErrorCode::Corrupt, name, "config.json: " + config.error().message);
  }
  if (!config->is_object()) {
    return error(ErrorCode::Corrupt, name, "config.json is no JSON object");
  }
  return config;
}

/// Group and bits of `module` ("model.layers.0.mlp.down_proj").
Result<Groups> groups_of(const nlohmann::json& quantisation, const std::string& module,
                         std::string_view name) {
  const nlohmann::json* object = &quantisation;
  std::string label = std::string(name) + ": config.json: \"quantization\"";
  if (const auto own = quantisation.find(module); own != quantisation.end() && own->is_object()) {
    object = &*own;
    label += ": " + in_quotes(module);
  }
  Groups groups;
  for (const auto& [key, value] :
       {std::pair{"group_size", &groups.group}, std::pair{"bits", &groups.bits}}) {
    const Result<std::uint64_t> number = json_integer(*object, key, 1, 4096, label);
    if (!number) {
      return number.error();
    }
    *value = *number;
  }
  const auto mode = object->find("mode");
  if (mode != object->end() && *mode != "affine") {
    return Error{ErrorCode::Unsupported, label + ": \"mode\" is not \"affine\""};
  }
  if ((groups.bits != 4 && groups.bits != 8) ||
      (groups.group != 32 && groups.group != 64 && groups.group != 128)) {
    return Error{ErrorCode::Unsupported, label + ": " + std::to_string(groups.bits) +
                                             " bits in groups of " + std::to_string(groups.group) +
                                             " (for " + in_quotes(module) +
                                             "); 4 or 8 bits in groups of 32, 64 or 128 are read"};
  }
  return groups;
}

Result<SourceTensor> join(const SourceTensor& weight, const SourceTensor& scales,
                          const SourceTensor& biases, const Groups& groups, std::string_view name) {
  const bool is_scale_type = scales.type == SourceType::F32 || scales.type == SourceType::F16 ||
                             scales.type == SourceType::BF16;
  if (weight.type != SourceType::U32 || !is_scale_type || biases.type != scales.type) {
    return error(ErrorCode::Corrupt, name,
                 "tensor " + in_quotes(weight.name) + " with scales and biases is " +
                     std::string(source_type_name(weight.type)) + ", " +
                     std::string(source_type_name(scales.type)) + ", " +
                     std::string(source_type_name(biases.type)) +
                     ", not U32 and two of F32, F16 or BF16");
  }
  const bool same_rows = weight.shape.size() >= 2 && weight.shape.size() == scales.shape.size() &&
                         weight.rows() == scales.rows();
  if (!same_rows || scales.shape != biases.shape ||
      weight.columns() * 32 != scales.columns() * groups.group * groups.bits) {
    return error(ErrorCode::Corrupt, name,
                 "tensor " + in_quotes(weight.name) + " is " + shape_text(weight.shape) +
                     " words with scales " + shape_text(scales.shape) + " and biases " +
                     shape_text(biases.shape) + ", but config.json says groups of " +
                     std::to_string(groups.group) + " with " + std::to_string(groups.bits) +
                     " bits");
  }
  SourceTensor joined = weight;
  joined.type = SourceType::MlxAffine;
  joined.shape.back() = scales.columns() * groups.group;
  joined.bits = static_cast<std::uint32_t>(groups.bits);
  joined.group = static_cast<std::uint32_t>(groups.group);
  joined.scale_type = scales.type;
  joined.scales = scales.bytes;
  joined.minima = biases.bytes;
  if (const auto size = storage_bytes(joined.type, joined.shape, joined.bits); !size) {
    return error(ErrorCode::Corrupt, name,
                 "tensor " + in_quotes(weight.name) + ": " + size.error().message);
  }
  return joined;
}

}  // namespace

Result<bool> is_mlx_config(std::string_view config_json, std::string_view name_for_errors) {
  const Result<nlohmann::json> config = parse_config(config_json, name_for_errors);
  if (!config) {
    return config.error();
  }
  if (quantisation(*config) != nullptr) {
    return true;
  }
  const auto other = config->find("quantization_config");
  if (other != config->end() && other->is_object() && other->contains("quant_method")) {
    const auto& method = (*other)["quant_method"];
    return error(ErrorCode::Unsupported, name_for_errors,
                 "config.json: weights quantised by " +
                     (method.is_string() ? in_quotes(method.get_ref<const std::string&>())
                                         : std::string("an unknown method")) +
                     "; take the model's GGUF, MLX or unquantised files");
  }
  return false;
}

Result<std::vector<SourceTensor>> join_mlx_tensors(std::vector<SourceTensor> tensors,
                                                   std::string_view config_json,
                                                   std::string_view name_for_errors) {
  const Result<nlohmann::json> config = parse_config(config_json, name_for_errors);
  if (!config) {
    return config.error();
  }
  const nlohmann::json* settings = quantisation(*config);
  if (settings == nullptr) {
    return tensors;
  }
  std::vector<SourceTensor> joined;
  for (const SourceTensor& tensor : tensors) {
    std::string_view name = tensor.name;
    for (const std::string_view part : {kScales, kBiases, kWeight}) {
      if (name.ends_with(part)) {
        name.remove_suffix(part.size());
        break;
      }
    }
    const std::string module(name);
    const SourceTensor* scales = find_sorted(tensors, module + std::string(kScales));
    if (name.size() == tensor.name.size() || scales == nullptr) {
      joined.push_back(tensor);
      continue;
    }
    const SourceTensor* weight = find_sorted(tensors, module + std::string(kWeight));
    const SourceTensor* biases = find_sorted(tensors, module + std::string(kBiases));
    if (weight == nullptr || biases == nullptr) {
      return error(ErrorCode::Corrupt, name_for_errors,
                   "tensor " + in_quotes(scales->name) + " has no " +
                       (weight == nullptr ? ".weight" : ".biases") + " beside it");
    }
    if (&tensor != weight) {
      continue;
    }
    const Result<Groups> groups = groups_of(*settings, module, name_for_errors);
    if (!groups) {
      return groups.error();
    }
    Result<SourceTensor> one = join(*weight, *scales, *biases, *groups, name_for_errors);
    if (!one) {
      return one.error();
    }
    joined.push_back(std::move(*one));
  }
  return joined;
}

}  // namespace laya::format

#include "model/gru/model_loading.h"

#include <charconv>
#include <string>
#include <utility>

#include "format/metadata.h"
#include "format/model_file.h"
#include "model/gru/gru_cpu_backend.h"
#include "model/gru/gru_mlx_backend.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/weights_loading.h"
#include "simd/dispatch.h"

namespace laya::model {
namespace {

struct Field {
  const char* name;
  std::uint32_t GruConfig::*value;
};

constexpr Field kFields[] = {
    {"vocabulary_size", &GruConfig::vocabulary_size},
    {"embedding_dim", &GruConfig::embedding_dim},
    {"hidden_dim", &GruConfig::hidden_dim},
    {"layers", &GruConfig::layers},
    {"heads", &GruConfig::heads},
    {"head_dim", &GruConfig::head_dim},
    {"window", &GruConfig::window},
};

}  // namespace

std::string config_json(const GruConfig& config) {
  std::string json = "{";
  for (const Field& field : kFields) {
    json += "\"" + std::string(field.name) + "\":" + std::to_string(config.*field.value) + ",";
  }
  char digits[32];  // the shortest text that reads back as the same float takes 15 at most
  const auto end = std::to_chars(digits, digits + sizeof(digits), config.norm_eps).ptr;
  return json + "\"norm_eps\":" + std::string(digits, end) + "}";
}

Result<Backend> parse_backend(std::string_view name) {
  if (name == "reference") return Backend::Reference;
  if (name == "cpu") return Backend::Cpu;
  if (name == "mlx") return Backend::Mlx;
  if (name == "mlx-8bit") return Backend::MlxQuantized;
  return Error{ErrorCode::BadArgument,
               "backend '" + std::string(name) + "' is none of: cpu, reference, mlx, mlx-8bit"};
}

Result<GruConfig> read_gru_config(const format::ModelFile& file) {
  const std::string where = file.path() + ": metadata";
  const auto fields = format::config_of(file, kGruLocal);
  if (!fields) {
    return fields.error();
  }
  GruConfig config;
  for (const Field& field : kFields) {
    auto value = format::json_integer(*fields, field.name, 1, 1U << 20, where + ".config");
    if (!value) {
      return value.error();
    }
    config.*field.value = static_cast<std::uint32_t>(*value);
  }
  auto eps = format::json_number(*fields, "norm_eps", where + ".config");
  if (!eps) {
    return eps.error();
  }
  config.norm_eps = static_cast<float>(*eps);
  if (auto valid = config.validate(); !valid) {
    return Error{ErrorCode::Corrupt, where + ": " + valid.error().message};
  }
  return config;
}

Result<std::unique_ptr<LanguageModel>> load_language_model(const format::ModelFile& file,
                                                           Backend backend) {
  auto config = read_gru_config(file);
  if (!config) {
    return config.error();
  }
  if (backend == Backend::Cpu) {
    auto weights = load_packed_weights(file, *config);
    if (!weights) {
      return weights.error();
    }
    return make_cpu_model(*config, std::move(*weights), simd::best_kernels());
  }
  auto weights = load_float_weights(file, *config);
  if (!weights) {
    return weights.error();
  }
  switch (backend) {
    case Backend::Mlx:
      return make_mlx_model(*config, std::move(*weights), MlxWeights::Float32);
    case Backend::MlxQuantized:
      return make_mlx_model(*config, std::move(*weights), MlxWeights::Int8);
    default:
      return make_reference_model(*config, std::move(*weights));
  }
}

}  // namespace laya::model

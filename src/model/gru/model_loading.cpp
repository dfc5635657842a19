#include "model/gru/model_loading.h"

#include <charconv>
#include <string>
#include <utility>

#include "format/metadata.h"
#include "format/model_file.h"

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
                                                           const Backend& backend) {
  if (backend.load_network == nullptr) {
    return Error{
        ErrorCode::BadArgument,
        file.path() + ": no backend is named to run its network; name one (cpu_backend())"};
  }
  return backend.load_network(file);
}

}  // namespace laya::model

#include "convert/convert_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "format/metadata.h"

namespace laya::convert {
namespace {

using model::DecoderConfig;
using model::DecoderFamily;

constexpr std::uint64_t kMost = 1u << 24;  // of any dimension; check() has the real limits
constexpr const char* kSupported =
    "supported are Llama 2/3 (SmolLM2, TinyLlama …), Qwen2, Qwen2.5, Qwen3 and Gemma 3 text models";

Error unsupported(const std::string& where, const std::string& what) {
  return {ErrorCode::Unsupported, where + ": " + what};
}

struct FamilyName {
  std::string_view gguf;
  std::string_view hugging_face;
  DecoderFamily family;
};
constexpr std::array kFamilies{
    FamilyName{"llama", "LlamaForCausalLM", DecoderFamily::Llama},
    FamilyName{"qwen2", "Qwen2ForCausalLM", DecoderFamily::Qwen2},
    FamilyName{"qwen3", "Qwen3ForCausalLM", DecoderFamily::Qwen3},
    FamilyName{"gemma3", "Gemma3ForCausalLM", DecoderFamily::Gemma3},
    FamilyName{"", "Gemma3ForConditionalGeneration", DecoderFamily::Gemma3},  // its text half
};

/// What the family itself says, whatever the file.
void set_family(DecoderFamily family, DecoderConfig& config) {
  config.activation =
      family == DecoderFamily::Gemma3 ? model::Activation::GeluTanh : model::Activation::SiLU;
  config.qkv_bias = family == DecoderFamily::Qwen2;
  config.qk_norm = family == DecoderFamily::Qwen3 || family == DecoderFamily::Gemma3;
  config.post_norms = family == DecoderFamily::Gemma3;
}

/// Gemma: embeddings enter the first layer times √d (Gemma 3 technical report; llama.cpp and
/// transformers do the same).
void set_scales(DecoderFamily family, double attention_dim, DecoderConfig& config) {
  config.embedding_scale =
      family == DecoderFamily::Gemma3
          ? static_cast<float>(std::sqrt(static_cast<double>(config.hidden_dim)))
          : 1.0F;
  config.attention_scale = static_cast<float>(1.0 / std::sqrt(attention_dim));
}

/// Every `pattern`-th layer is global, the others slide.
void set_pattern(std::uint64_t pattern, DecoderConfig& config) {
  config.sliding_layers.assign(config.layers, false);
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    config.sliding_layers[l] = config.sliding_window != 0 && pattern > 0 && (l + 1) % pattern != 0;
  }
}

// ---- GGUF ----

/// Keys below the architecture's name.
class GgufFields {
 public:
  GgufFields(const format::GgufFile& file, std::string_view architecture)
      : file_(file), prefix_(std::string(architecture) + ".") {}

  bool has(std::string_view key) const { return file_.has(prefix_ + std::string(key)); }
  void read(std::string_view key, std::uint32_t& out, std::optional<std::uint32_t> absent = {}) {
    if (absent && !has(key)) {
      out = *absent;
      return;
    }
    if (!status_) return;
    const auto value = file_.integer(prefix_ + std::string(key), 0, kMost);
    if (!value) {
      status_ = value.error();
      return;
    }
    out = static_cast<std::uint32_t>(*value);
  }
  void read(std::string_view key, float& out, std::optional<float> absent = {}) {
    if (absent && !has(key)) {
      out = *absent;
      return;
    }
    if (!status_) return;
    const auto value = file_.number(prefix_ + std::string(key));
    if (!value) {
      status_ = value.error();
      return;
    }
    out = static_cast<float>(*value);
  }
  std::string text(std::string_view key) const {
    const auto value = file_.text(prefix_ + std::string(key));
    return value ? std::string(*value) : std::string();
  }
  const Status& status() const { return status_; }

 private:
  const format::GgufFile& file_;
  std::string prefix_;
  Status status_;
};

/// Llama 3.1's stretching is stored as a divisor a frequency. Only the published parameters are
/// known; others are refused rather than guessed.
Status set_llama3_scaling(const format::GgufFile& file, const format::SourceTensor& divisors,
                          DecoderConfig& config) {
  const std::uint64_t half = config.head_dim / 2;
  std::vector<float> stated(half);
  if (divisors.elements() != half || !format::read_rows(divisors, 0, 1, stated)) {
    return Error{ErrorCode::Corrupt, file.path() + ": tensor rope_freqs.weight is " +
                                         format::shape_text(divisors.shape) +
                                         ", half of the head dimension is " + std::to_string(half)};
  }
  model::RopeScaling scaling;
  scaling.kind = model::RopeScaling::Kind::Llama3;
  scaling.factor = *std::max_element(stated.begin(), stated.end());
  scaling.low_freq_factor = 1;
  scaling.high_freq_factor = 4;
  scaling.original_context = 8192;
  for (std::uint64_t i = 0; i < half; ++i) {
    const double frequency = std::pow(static_cast<double>(config.rope_base),
                                      -2.0 * static_cast<double>(i) / config.head_dim);
    const double turns = scaling.original_context * frequency / (2 * 3.14159265358979323846);
    const double smooth = std::clamp(
        (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor),
        0.0, 1.0);
    const double want = 1.0 / ((1 - smooth) / scaling.factor + smooth);
    if (!(std::abs(stated[i] - want) <= 0.01 * want)) {
      return unsupported(file.path(),
                         "tensor rope_freqs.weight stretches frequencies otherwise than Llama 3 "
                         "(value " +
                             std::to_string(i) + " is " + std::to_string(stated[i]) + ")");
    }
  }
  const bool stretched = scaling.factor > 1.001F;
  config.rope_scaling = stretched ? scaling : model::RopeScaling{};
  return {};
}

Status set_gguf_rope(const format::GgufFile& file, GgufFields& fields, DecoderConfig& config) {
  std::uint32_t rotated = 0;
  fields.read("rope.freq_base", config.rope_base, 10000.0F);
  fields.read("rope.dimension_count", rotated, config.head_dim);
  if (rotated != config.head_dim) {
    return unsupported(file.path(), "rope.dimension_count is " + std::to_string(rotated) +
                                        ", the head dimension is " +
                                        std::to_string(config.head_dim) +
                                        ": partial rotation is not supported");
  }
  const std::string kind = fields.text("rope.scaling.type");
  if (!kind.empty() && kind != "none" && kind != "linear") {
    return unsupported(file.path(), "rope.scaling.type is '" + kind + "'; linear is supported");
  }
  float factor = 1;
  fields.read("rope.scaling.factor", factor, 1.0F);
  if (kind == "linear" && factor != 1.0F) {
    config.rope_scaling.kind = model::RopeScaling::Kind::Linear;
    config.rope_scaling.factor = factor;
  }
  if (const format::SourceTensor* divisors = file.find_tensor("rope_freqs.weight")) {
    return set_llama3_scaling(file, *divisors, config);
  }
  return {};
}

// ---- JSON ----

class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  const nlohmann::json* find(std::string_view key) const {
    const auto found = object_.find(std::string(key));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  void read(std::string_view key, std::uint32_t& out, std::optional<std::uint32_t> absent = {}) {
    if (absent && !has(key)) {
      out = *absent;
      return;
    }
    if (!status_) return;
    const auto value = format::json_integer(object_, key, 0, kMost, where_);
    if (!value) {
      status_ = value.error();
      return;
    }
    out = static_cast<std::uint32_t>(*value);
  }
  void read(std::string_view key, float& out, std::optional<float> absent = {}) {
    if (absent && !has(key)) {
      out = *absent;
      return;
    }
    if (!status_) return;
    const auto value = format::json_number(object_, key, where_);
    if (!value) {
      status_ = value.error();
      return;
    }
    out = static_cast<float>(*value);
  }
  bool flag(std::string_view key, bool absent) const {
    const nlohmann::json* value = find(key);
    return value != nullptr && value->is_boolean() ? value->get<bool>() : absent;
  }
  std::string text(std::string_view key) const {
    const nlohmann::json* value = find(key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  }
  const Status& status() const { return status_; }
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json& object_;
  std::string where_;
  Status status_;
};

/// `scaling` is config.json's rope_scaling, or rope_parameters of transformers 5.
Status set_json_scaling(const nlohmann::json& scaling, const std::string& where,
                        DecoderConfig& config) {
  if (!scaling.is_object()) return unsupported(where, "rope_scaling is no object");
  JsonFields fields(scaling, where + ": rope_scaling");
  std::string kind = fields.text("rope_type");
  if (kind.empty()) kind = fields.text("type");
  if (kind.empty() || kind == "default") return {};
  model::RopeScaling& out = config.rope_scaling;
  if (kind == "linear") {
    out.kind = model::RopeScaling::Kind::Linear;
    fields.read("factor", out.factor);
  } else if (kind == "llama3") {
    out.kind = model::RopeScaling::Kind::Llama3;
    fields.read("factor", out.factor);
    fields.read("low_freq_factor", out.low_freq_factor);
    fields.read("high_freq_factor", out.high_freq_factor);
    fields.read("original_max_position_embeddings", out.original_context);
  } else {
    return unsupported(where, "rope_scaling '" + kind + "'; linear and llama3 are supported");
  }
  return fields.status();
}

Status set_json_rope(JsonFields& fields, DecoderConfig& config) {
  config.rope_base_local = 10000.0F;
  fields.read("rope_local_base_freq", config.rope_base_local, config.rope_base_local);
  const nlohmann::json* parameters = fields.find("rope_parameters");  // transformers 5
  if (parameters == nullptr) {
    fields.read("rope_theta", config.rope_base, config.rope_base);
    const nlohmann::json* scaling = fields.find("rope_scaling");
    return scaling == nullptr ? Status{} : set_json_scaling(*scaling, fields.where(), config);
  }
  const nlohmann::json* global = parameters;
  if (parameters->is_object() && parameters->contains("full_attention")) {
    global = &(*parameters)["full_attention"];
    if (parameters->contains("sliding_attention")) {
      const nlohmann::json& local = (*parameters)["sliding_attention"];
      if (local.is_object()) {
        JsonFields of_local(local, fields.where() + ": rope_parameters.sliding_attention");
        of_local.read("rope_theta", config.rope_base_local, config.rope_base_local);
        if (auto status = of_local.status(); !status) return status;
      }
    }
  }
  if (!global->is_object()) return unsupported(fields.where(), "rope_parameters is no object");
  JsonFields of_global(*global, fields.where() + ": rope_parameters");
  of_global.read("rope_theta", config.rope_base, config.rope_base);
  if (auto status = of_global.status(); !status) return status;
  return set_json_scaling(*global, fields.where(), config);
}

/// Which layers slide: stated one by one, by a pattern, or (Qwen) from a layer on.
Status set_json_sliding(DecoderFamily family, JsonFields& fields, DecoderConfig& config) {
  const bool used = fields.flag("use_sliding_window", family == DecoderFamily::Gemma3);
  if (!used || !fields.has("sliding_window")) {
    config.sliding_window = 0;
    config.sliding_layers.assign(config.layers, false);
    return {};
  }
  fields.read("sliding_window", config.sliding_window);
  const nlohmann::json* types = fields.find("layer_types");
  if (types != nullptr) {
    if (!types->is_array() || types->size() != config.layers) {
      return Error{ErrorCode::Corrupt,
                   fields.where() + ": layer_types has " + std::to_string(types->size()) +
                       " entries, num_hidden_layers is " + std::to_string(config.layers)};
    }
    config.sliding_layers.assign(config.layers, false);
    for (std::uint32_t l = 0; l < config.layers; ++l) {
      const std::string kind = (*types)[l].is_string() ? (*types)[l].get<std::string>() : "";
      if (kind != "sliding_attention" && kind != "full_attention") {
        return unsupported(fields.where(), "layer_types[" + std::to_string(l) +
                                               "]; sliding_attention and full_attention are "
                                               "supported");
      }
      config.sliding_layers[l] = kind == "sliding_attention";
    }
    return {};
  }
  if (family == DecoderFamily::Gemma3) {
    std::uint32_t pattern = 6;  // its technical report: five sliding layers to a global one
    fields.read("sliding_window_pattern", pattern, pattern);
    set_pattern(pattern, config);
    return {};
  }
  std::uint32_t first = config.layers;
  fields.read("max_window_layers", first, first);
  config.sliding_layers.assign(config.layers, false);
  for (std::uint32_t l = first; l < config.layers; ++l) config.sliding_layers[l] = true;
  return {};
}

Result<DecoderFamily> json_family(const JsonFields& fields) {
  const nlohmann::json* architectures = fields.find("architectures");
  std::string stated;
  if (architectures != nullptr && architectures->is_array() && !architectures->empty() &&
      architectures->front().is_string()) {
    stated = architectures->front().get<std::string>();
    for (const FamilyName& name : kFamilies) {
      if (stated == name.hugging_face) return name.family;
    }
  } else {
    stated = fields.text("model_type");
    for (const FamilyName& name : kFamilies) {
      if (stated == name.gguf || stated == std::string(name.gguf) + "_text") return name.family;
    }
  }
  return unsupported(fields.where(),
                     "architecture " + format::in_quotes(stated) + "; " + kSupported);
}

Status set_json_activation(const JsonFields& fields, DecoderConfig& config) {
  std::string stated = fields.text("hidden_activation");
  if (stated.empty()) stated = fields.text("hidden_act");
  if (stated.empty()) return {};
  if (stated == "silu" || stated == "swish") {
    config.activation = model::Activation::SiLU;
  } else if (stated == "gelu_pytorch_tanh" || stated == "gelu_new") {
    config.activation = model::Activation::GeluTanh;
  } else {
    return unsupported(fields.where(), "activation " + format::in_quotes(stated) +
                                           "; silu and gelu_pytorch_tanh are supported");
  }
  return {};
}

}  // namespace

Result<StatedConfig> gguf_config(const format::GgufFile& file, std::uint64_t embedding_rows) {
  auto architecture = file.text("general.architecture");
  if (!architecture) return architecture.error();
  StatedConfig stated;
  stated.where = file.path();
  const auto* family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const FamilyName& f) {
    return !f.gguf.empty() && f.gguf == *architecture;
  });
  if (family == kFamilies.end()) {
    return unsupported(stated.where, "general.architecture " + format::in_quotes(*architecture) +
                                         "; " + kSupported);
  }
  stated.family = family->family;
  if (const auto name = file.text("general.name")) stated.name = std::string(*name);
  if (const auto licence = file.text("general.license")) stated.licence = std::string(*licence);

  DecoderConfig& config = stated.config;
  GgufFields fields(file, *architecture);
  set_family(stated.family, config);
  fields.read("vocab_size", config.vocabulary_size, static_cast<std::uint32_t>(embedding_rows));
  fields.read("embedding_length", config.hidden_dim);
  fields.read("block_count", config.layers);
  fields.read("attention.head_count", config.heads);
  fields.read("attention.head_count_kv", config.kv_heads, config.heads);
  if (!fields.status()) return fields.status().error();
  if (config.heads == 0) {
    return Error{ErrorCode::Corrupt, stated.where + ": attention.head_count is 0"};
  }
  std::uint32_t value_length = 0, experts = 0;
  fields.read("attention.key_length", config.head_dim, config.hidden_dim / config.heads);
  fields.read("attention.value_length", value_length, config.head_dim);
  fields.read("feed_forward_length", config.ffn_dim);
  fields.read("context_length", config.max_context);
  fields.read("attention.layer_norm_rms_epsilon", config.norm_eps);
  fields.read("attention.sliding_window", config.sliding_window, 0u);
  fields.read("final_logit_softcapping", config.logit_soft_cap, 0.0F);
  fields.read("expert_count", experts, 0u);
  if (!fields.status()) return fields.status().error();
  if (value_length != config.head_dim) {
    return unsupported(stated.where, "attention.value_length is " + std::to_string(value_length) +
                                         ", attention.key_length " +
                                         std::to_string(config.head_dim) +
                                         ": only equal ones are supported");
  }
  if (experts != 0) return unsupported(stated.where, "expert_count is " + std::to_string(experts));
  if (config.layers > 4096) {
    return Error{ErrorCode::Corrupt,
                 stated.where + ": block_count is " + std::to_string(config.layers)};
  }
  if (auto status = set_gguf_rope(file, fields, config); !status) return status.error();
  if (stated.family == DecoderFamily::Gemma3) {
    std::uint32_t pattern = 6;
    fields.read("attention.sliding_window_pattern", pattern, pattern);
    fields.read("rope.freq_base_swa", config.rope_base_local, 10000.0F);
    set_pattern(pattern, config);
  } else {
    config.rope_base_local = config.rope_base;
    config.sliding_window = 0;
    config.sliding_layers.assign(config.layers, false);
  }
  // Gemma 3 27B (62 layers) alone scales by d / heads; GGUF does not say so, llama.cpp knows it
  // too.
  const bool by_width = stated.family == DecoderFamily::Gemma3 && config.layers == 62;
  set_scales(stated.family, by_width ? config.hidden_dim / config.heads : config.head_dim, config);
  if (!fields.status()) return fields.status().error();
  config.tied_head = file.find_tensor("output.weight") == nullptr;
  return stated;
}

Result<StatedConfig> hugging_face_config(std::string_view json) {
  auto parsed = format::parse_json(json);
  if (!parsed) return Error{parsed.error().code, "config.json: " + parsed.error().message};
  if (!parsed->is_object()) return Error{ErrorCode::Corrupt, "config.json: is no object"};
  auto family = json_family(JsonFields(*parsed, "config.json"));
  if (!family) return family.error();
  const auto text = parsed->find("text_config");
  const bool nested = text != parsed->end() && text->is_object();
  JsonFields fields(nested ? *text : *parsed, nested ? "config.json: text_config" : "config.json");

  StatedConfig stated;
  stated.where = fields.where();
  stated.family = *family;
  stated.name = fields.text("_name_or_path");
  DecoderConfig& config = stated.config;
  set_family(stated.family, config);
  const bool gemma = stated.family == DecoderFamily::Gemma3;
  fields.read("vocab_size", config.vocabulary_size);
  fields.read("hidden_size", config.hidden_dim);
  fields.read("num_hidden_layers", config.layers);
  fields.read("num_attention_heads", config.heads);
  fields.read("num_key_value_heads", config.kv_heads, config.heads);
  fields.read("intermediate_size", config.ffn_dim);
  fields.read("max_position_embeddings", config.max_context,
              gemma ? 131072u : 2048u);  // transformers' own defaults
  fields.read("rms_norm_eps", config.norm_eps, 1e-6F);
  if (!fields.status()) return fields.status().error();
  if (config.heads == 0 || config.layers > 4096) {
    return Error{ErrorCode::Corrupt, stated.where + ": num_attention_heads is " +
                                         std::to_string(config.heads) + ", num_hidden_layers " +
                                         std::to_string(config.layers)};
  }
  const std::uint32_t usual_head = gemma ? 256
                                   : stated.family == DecoderFamily::Qwen3
                                       ? 128
                                       : config.hidden_dim / config.heads;
  fields.read("head_dim", config.head_dim, usual_head);
  float attention_dim = static_cast<float>(config.head_dim);
  fields.read("query_pre_attn_scalar", attention_dim, gemma ? 256.0F : attention_dim);
  fields.read("final_logit_softcapping", config.logit_soft_cap, 0.0F);
  if (auto status = set_json_activation(fields, config); !status) return status.error();
  if (fields.has("attn_logit_softcapping")) {
    return unsupported(stated.where, "attn_logit_softcapping (Gemma 2)");
  }
  config.rope_base = gemma ? 1000000.0F : 10000.0F;
  if (auto status = set_json_rope(fields, config); !status) return status.error();
  if (auto status = set_json_sliding(stated.family, fields, config); !status) {
    return status.error();
  }
  if (!gemma) config.rope_base_local = config.rope_base;
  if (!(attention_dim > 0)) {
    return Error{ErrorCode::Corrupt, stated.where + ": query_pre_attn_scalar is not above 0"};
  }
  set_scales(stated.family, attention_dim, config);
  config.qkv_bias = fields.flag("attention_bias", config.qkv_bias);
  const bool outer_tied = JsonFields(*parsed, "config.json").flag("tie_word_embeddings", gemma);
  config.tied_head = fields.flag("tie_word_embeddings", outer_tied);
  if (!fields.status()) return fields.status().error();
  return stated;
}

Result<StatedConfig> llama2c_config(const format::Llama2cConfig& header) {
  StatedConfig stated;
  stated.where = "header";
  DecoderConfig& config = stated.config;
  config.vocabulary_size = header.vocabulary_size;
  config.hidden_dim = header.dim;
  config.layers = header.layers;
  config.heads = header.heads;
  config.kv_heads = header.kv_heads;
  config.head_dim = header.heads == 0 ? 0 : header.dim / header.heads;
  config.ffn_dim = header.hidden_dim;
  config.max_context = header.max_context;
  config.norm_eps = 1e-5F;  // model.py of that repository; the file does not say
  config.tied_head = header.tied_head;
  config.sliding_layers.assign(header.layers, false);
  if (config.head_dim == 0) return Error{ErrorCode::Corrupt, "header: heads is 0 or above dim"};
  set_scales(stated.family, config.head_dim, config);
  return stated;
}

Result<StatedConfig> params_json_config(std::string_view json, std::uint64_t embedding_rows,
                                        std::uint64_t ffn_rows) {
  auto parsed = format::parse_json(json);
  if (!parsed) return Error{parsed.error().code, "params.json: " + parsed.error().message};
  if (!parsed->is_object()) return Error{ErrorCode::Corrupt, "params.json: is no object"};
  JsonFields fields(*parsed, "params.json");
  StatedConfig stated;
  stated.where = "params.json";
  DecoderConfig& config = stated.config;
  fields.read("dim", config.hidden_dim);
  fields.read("n_layers", config.layers);
  fields.read("n_heads", config.heads);
  fields.read("n_kv_heads", config.kv_heads, config.heads);
  fields.read("norm_eps", config.norm_eps);
  fields.read("rope_theta", config.rope_base, 10000.0F);
  if (!fields.status()) return fields.status().error();
  if (fields.flag("use_scaled_rope", false)) {
    config.rope_scaling = {model::RopeScaling::Kind::Llama3, 8, 1, 4, 8192};  // Llama 3.1's code
  }
  config.vocabulary_size =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(embedding_rows, kMost));
  config.ffn_dim = static_cast<std::uint32_t>(std::min<std::uint64_t>(ffn_rows, kMost));
  config.head_dim = config.heads == 0 ? 0 : config.hidden_dim / config.heads;
  config.rope_base_local = config.rope_base;
  config.max_context = 4096;  // Llama 2's; the file does not say
  config.tied_head = false;
  if (config.head_dim == 0 || config.layers > 4096) {
    return Error{ErrorCode::Corrupt, "params.json: n_heads is " + std::to_string(config.heads) +
                                         ", n_layers " + std::to_string(config.layers)};
  }
  config.sliding_layers.assign(config.layers, false);
  set_scales(stated.family, config.head_dim, config);
  return stated;
}

}  // namespace laya::convert

#include "model/decoder/decoder_config.h"

#include <array>
#include <charconv>
#include <cmath>

namespace laya::model {
namespace {

struct IntegerLimit {
  const char* field;
  std::uint32_t DecoderConfig::*value;
  std::uint32_t low, high;
};

// Generous against real models (Gemma's vocabulary has 262,144 rows), small enough that no product
// of two of them times a float nears 2^63. head_dim: what the attention kernels take.
constexpr std::array kIntegerLimits = {
    IntegerLimit{"vocabulary_size", &DecoderConfig::vocabulary_size, 2, 1U << 20},
    IntegerLimit{"hidden_dim", &DecoderConfig::hidden_dim, 1, 16384},
    IntegerLimit{"layers", &DecoderConfig::layers, 1, 256},
    IntegerLimit{"heads", &DecoderConfig::heads, 1, 256},
    IntegerLimit{"kv_heads", &DecoderConfig::kv_heads, 1, 256},
    IntegerLimit{"head_dim", &DecoderConfig::head_dim, 16, 256},
    IntegerLimit{"ffn_dim", &DecoderConfig::ffn_dim, 1, 1U << 17},
    IntegerLimit{"max_context", &DecoderConfig::max_context, 1, 1U << 24},
    IntegerLimit{"sliding_window", &DecoderConfig::sliding_window, 0, 1U << 24},
};

struct NumberLimit {
  const char* field;
  float DecoderConfig::*value;
  float low, high;
};

constexpr std::array kNumberLimits = {
    NumberLimit{"norm_eps", &DecoderConfig::norm_eps, 1e-12F, 0.1F},
    NumberLimit{"embedding_scale", &DecoderConfig::embedding_scale, 1e-4F, 1e4F},
    NumberLimit{"attention_scale", &DecoderConfig::attention_scale, 1e-4F, 1e2F},
    NumberLimit{"rope_base", &DecoderConfig::rope_base, 1.0F, 1e9F},
    NumberLimit{"rope_base_local", &DecoderConfig::rope_base_local, 1.0F, 1e9F},
    NumberLimit{"logit_soft_cap", &DecoderConfig::logit_soft_cap, 0.0F, 1e4F},
};

std::string number_text(float value) {
  char digits[32];  // the shortest text that reads back as the same float takes 15 at most
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  return {digits, end};
}

Error bad(const std::string& what) {
  return Error{ErrorCode::BadArgument, "decoder configuration: " + what};
}

Status within(const char* field, float value, float low, float high) {
  if (!(value >= low && value <= high)) {  // NaN is refused as well
    return bad(std::string(field) + " is " + number_text(value) + ", allowed are " +
               number_text(low) + " to " + number_text(high));
  }
  return {};
}

Status check_scaling(const RopeScaling& scaling) {
  if (scaling.kind > RopeScaling::Kind::Llama3) {
    return bad("rope_scaling.kind is unknown");
  }
  if (auto status = within("rope_scaling.factor", scaling.factor, 1e-3F, 1e3F); !status) {
    return status;
  }
  if (auto status = within("rope_scaling.low_freq_factor", scaling.low_freq_factor, 1e-3F, 1e3F);
      !status) {
    return status;
  }
  if (auto status = within("rope_scaling.high_freq_factor", scaling.high_freq_factor, 1e-3F, 1e3F);
      !status) {
    return status;
  }
  if (scaling.kind == RopeScaling::Kind::Llama3 &&
      !(scaling.high_freq_factor > scaling.low_freq_factor)) {
    return bad("rope_scaling.high_freq_factor must be above low_freq_factor");
  }
  if (scaling.original_context < 1 || scaling.original_context > (1U << 24)) {
    return bad("rope_scaling.original_context is " + std::to_string(scaling.original_context) +
               ", allowed are 1 to 16777216");
  }
  return {};
}

const char* truth(bool value) { return value ? "true" : "false"; }

}  // namespace

std::uint64_t DecoderConfig::parameter_count() const {
  const std::uint64_t v = vocabulary_size, d = hidden_dim, f = ffn_dim, q = q_dim(), kv = kv_dim();
  std::uint64_t layer = 2 * d + 2 * d * q + 2 * d * kv + 3 * d * f;
  layer += qkv_bias ? q + 2 * kv : 0;
  layer += qk_norm ? std::uint64_t{2} * head_dim : 0;
  layer += post_norms ? 2 * d : 0;
  return (tied_head ? 1 : 2) * v * d + layers * layer + d;
}

Status check(const DecoderConfig& config) {
  for (const IntegerLimit& limit : kIntegerLimits) {
    const std::uint32_t value = config.*limit.value;
    if (value < limit.low || value > limit.high) {
      return bad(std::string(limit.field) + " is " + std::to_string(value) + ", allowed are " +
                 std::to_string(limit.low) + " to " + std::to_string(limit.high));
    }
  }
  for (const NumberLimit& limit : kNumberLimits) {
    if (auto status = within(limit.field, config.*limit.value, limit.low, limit.high); !status) {
      return status;
    }
  }
  if (config.heads % config.kv_heads != 0) {
    return bad("kv_heads is " + std::to_string(config.kv_heads) + ", which does not divide heads " +
               std::to_string(config.heads));
  }
  if (config.head_dim % 16 != 0) {
    return bad("head_dim is " + std::to_string(config.head_dim) + ", not a multiple of 16");
  }
  if (config.activation > Activation::GeluTanh) {
    return bad("activation is unknown");
  }
  if (!config.sliding_layers.empty() && config.sliding_layers.size() != config.layers) {
    return bad("sliding_layers has " + std::to_string(config.sliding_layers.size()) +
               " entries for " + std::to_string(config.layers) + " layers");
  }
  return check_scaling(config.rope_scaling);
}

std::string decoder_config_json(const DecoderConfig& config) {
  std::string json = "{";
  for (const IntegerLimit& field : kIntegerLimits) {
    json += "\"" + std::string(field.field) + "\":" + std::to_string(config.*field.value) + ",";
  }
  for (const NumberLimit& field : kNumberLimits) {
    json += "\"" + std::string(field.field) + "\":" + number_text(config.*field.value) + ",";
  }
  json += std::string("\"activation\":\"") +
          (config.activation == Activation::SiLU ? "silu" : "gelu_tanh") + "\",";
  json += std::string("\"qkv_bias\":") + truth(config.qkv_bias) + ",";
  json += std::string("\"qk_norm\":") + truth(config.qk_norm) + ",";
  json += std::string("\"post_norms\":") + truth(config.post_norms) + ",";
  json += std::string("\"tied_head\":") + truth(config.tied_head) + ",";
  const RopeScaling& scaling = config.rope_scaling;
  constexpr const char* kKinds[] = {"none", "linear", "llama3"};
  json += std::string("\"rope_scaling\":{\"kind\":\"") +
          kKinds[static_cast<std::size_t>(scaling.kind)] +
          "\",\"factor\":" + number_text(scaling.factor) +
          ",\"low_freq_factor\":" + number_text(scaling.low_freq_factor) +
          ",\"high_freq_factor\":" + number_text(scaling.high_freq_factor) +
          ",\"original_context\":" + std::to_string(scaling.original_context) + "},";
  json += "\"sliding_layers\":[";
  for (std::size_t l = 0; l < config.layers; ++l) {
    json += std::string(l == 0 ? "" : ",") +
            truth(l < config.sliding_layers.size() && config.sliding_layers[l]);
  }
  return json + "]}";
}

std::string_view family_name(DecoderFamily family) {
  switch (family) {
    case DecoderFamily::Llama:
      return "llama";
    case DecoderFamily::Qwen2:
      return "qwen2";
    case DecoderFamily::Qwen3:
      return "qwen3";
    case DecoderFamily::Gemma3:
      return "gemma3";
  }
  return "";
}

}  // namespace laya::model

#include "model/decoder/decoder_loading.h"

#include <array>
#include <string>

#include "format/metadata.h"

namespace laya::model {
namespace {

using nlohmann::json;

/// Reads the fields of one object, keeping the first error.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {}

  void integer(const char* name, std::uint32_t& into) {
    keep(into, format::json_integer(object_, name, 0, 0xFFFFFFFFU, where_));
  }
  void number(const char* name, float& into) {
    keep(into, format::json_number(object_, name, where_));
  }
  void truth(const char* name, bool& into) {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_boolean()) {
      fail(std::string(name) + " must be true or false");
    } else {
      into = found->get<bool>();
    }
  }
  /// `into` becomes the index of the field's text in `names`.
  template <typename Enum, std::size_t kCount>
  void choice(const char* name, const std::array<const char*, kCount>& names, Enum& into) {
    auto text = format::json_string(object_, name, where_);
    if (!text) {
      keep_error(text.error());
      return;
    }
    for (std::size_t i = 0; i < kCount; ++i) {
      if (*text == names[i]) {
        into = static_cast<Enum>(i);
        return;
      }
    }
    fail(std::string(name) + " is '" + *text + "', which is unknown");
  }
  void truths(const char* name, std::size_t count, std::vector<bool>& into) {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_array() || found->size() != count) {
      fail(std::string(name) + " must be an array of " + std::to_string(count) +
           " truth values, one a layer");
      return;
    }
    for (const json& value : *found) {
      if (!value.is_boolean()) {
        fail(std::string(name) + " must be true or false throughout");
        return;
      }
      into.push_back(value.get<bool>());
    }
  }
  void fail(const std::string& what) {
    keep_error(Error{ErrorCode::Corrupt, where_ + ": " + what});
  }
  void keep_error(const Error& error) {
    if (status_) {
      status_ = error;
    }
  }
  const Status& status() const { return status_; }

 private:
  template <typename T, typename Value>
  void keep(T& into, const Result<Value>& value) {
    if (value) {
      into = static_cast<T>(*value);
    } else {
      keep_error(value.error());
    }
  }

  const json& object_;
  std::string where_;
  Status status_;
};

Result<DecoderConfig> read_fields(const json& object, const std::string& where) {
  DecoderConfig c;
  Fields fields(object, where + ".config");
  fields.integer("vocabulary_size", c.vocabulary_size);
  fields.integer("hidden_dim", c.hidden_dim);
  fields.integer("layers", c.layers);
  fields.integer("heads", c.heads);
  fields.integer("kv_heads", c.kv_heads);
  fields.integer("head_dim", c.head_dim);
  fields.integer("ffn_dim", c.ffn_dim);
  fields.integer("max_context", c.max_context);
  fields.integer("sliding_window", c.sliding_window);
  fields.number("norm_eps", c.norm_eps);
  fields.number("embedding_scale", c.embedding_scale);
  fields.number("attention_scale", c.attention_scale);
  fields.number("rope_base", c.rope_base);
  fields.number("rope_base_local", c.rope_base_local);
  fields.number("logit_soft_cap", c.logit_soft_cap);
  fields.choice("activation", std::array{"silu", "gelu_tanh"}, c.activation);
  fields.truth("qkv_bias", c.qkv_bias);
  fields.truth("qk_norm", c.qk_norm);
  fields.truth("post_norms", c.post_norms);
  fields.truth("tied_head", c.tied_head);
  fields.truths("sliding_layers", c.layers, c.sliding_layers);
  const auto found = object.find("rope_scaling");
  if (found == object.end() || !found->is_object()) {
    fields.fail("no object 'rope_scaling'");
  }
  if (!fields.status()) {
    return fields.status().error();
  }
  Fields scaling(*found, where + ".config.rope_scaling");
  scaling.choice("kind", std::array{"none", "linear", "llama3"}, c.rope_scaling.kind);
  scaling.number("factor", c.rope_scaling.factor);
  scaling.number("low_freq_factor", c.rope_scaling.low_freq_factor);
  scaling.number("high_freq_factor", c.rope_scaling.high_freq_factor);
  scaling.integer("original_context", c.rope_scaling.original_context);
  if (!scaling.status()) {
    return scaling.status().error();
  }
  return c;
}

}  // namespace

bool is_decoder(const format::ModelFile& file) {
  const auto metadata = format::metadata(file);
  if (!metadata) {
    return false;
  }
  const auto architecture = format::json_string(*metadata, "architecture", "");
  return architecture && *architecture == kDecoderArchitecture;
}

Result<DecoderConfig> read_decoder_config(const format::ModelFile& file) {
  const std::string where = file.path() + ": metadata";
  const auto object = format::config_of(file, kDecoderArchitecture);
  if (!object) {
    return object.error();
  }
  auto config = read_fields(*object, where);
  if (!config) {
    return config.error();
  }
  if (auto valid = check(*config); !valid) {
    return Error{ErrorCode::Corrupt, where + ": " + valid.error().message};
  }
  return config;
}

Result<std::unique_ptr<Decoder>> load_decoder(const format::ModelFile& file,
                                              const Backend& backend) {
  if (backend.load_decoder == nullptr) {
    return Error{
        ErrorCode::BadArgument,
        file.path() + ": no backend is named to run its decoder; name one (cpu_backend())"};
  }
  return backend.load_decoder(file);
}

}  // namespace laya::model

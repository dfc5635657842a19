#include "model/decision/decision_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "format/metadata.h"
#include "format/model_file.h"
#include "format/model_writer.h"
#include "model/core/split_mix.h"

namespace laya::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxHiddenLayers = 4;
constexpr std::uint32_t kMaxWidth = 4096;
constexpr std::size_t kMaxFeatureName = 64;

struct Field {
  const char* name;
  std::uint32_t DecisionConfig::*value;
  std::uint32_t low, high;
};

constexpr std::array kTokenFields = {
    Field{"vocabulary_size", &DecisionConfig::vocabulary_size, 1, 1U << 20},
    Field{"actions", &DecisionConfig::actions, 2, kMaxDecisionActions},
    Field{"window", &DecisionConfig::window, 1, kMaxDecisionWindow},
    Field{"embedding_dim", &DecisionConfig::embedding_dim, 1, 1024},
};

constexpr std::array kTransformerFields = {
    Field{"layers", &DecisionConfig::layers, 1, 4},
    Field{"heads", &DecisionConfig::heads, 1, 16},
    Field{"head_dim", &DecisionConfig::head_dim, 16, 256},
    Field{"ffn_dim", &DecisionConfig::ffn_dim, 1, kMaxWidth},
};

std::vector<Field> fields_of(DecisionKind kind) {
  std::vector<Field> fields;
  if (kind != DecisionKind::Ranker) {
    fields.assign(kTokenFields.begin(), kTokenFields.end());
  }
  if (kind == DecisionKind::Transformer) {
    fields.insert(fields.end(), kTransformerFields.begin(), kTransformerFields.end());
  }
  return fields;
}

constexpr std::pair<DecisionKind, std::string_view> kKinds[] = {
    {DecisionKind::Ranker, "mlp_ranker"},
    {DecisionKind::WindowedMlp, "windowed_mlp"},
    {DecisionKind::Transformer, "transformer"},
};

Error bad(const std::string& what) {
  return Error{ErrorCode::BadArgument, "decision model: " + what};
}

std::string limits(const std::string& field, std::uint64_t value, std::uint64_t low,
                   std::uint64_t high) {
  return field + " is " + std::to_string(value) + ", allowed are " + std::to_string(low) + " to " +
         std::to_string(high);
}

Status check_features(const std::vector<std::string>& features) {
  if (features.empty() || features.size() > kMaxDecisionFeatures) {
    return bad(limits("the number of features", features.size(), 1, kMaxDecisionFeatures));
  }
  std::vector<std::string_view> sorted(features.begin(), features.end());
  for (const std::string_view name : sorted) {
    const bool printable = std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7F; });
    if (name.empty() || name.size() > kMaxFeatureName || !printable) {
      return bad("a feature's name has 1 to " + std::to_string(kMaxFeatureName) +
                 " printable ASCII characters and no blank");
    }
  }
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    return bad("two features are called " + std::string(*twice));
  }
  return {};
}

Status check_hidden(const std::vector<std::uint32_t>& hidden) {
  if (hidden.empty() || hidden.size() > kMaxHiddenLayers) {
    return bad(limits("the number of hidden layers", hidden.size(), 1, kMaxHiddenLayers));
  }
  for (const std::uint32_t width : hidden) {
    if (width < 1 || width > kMaxWidth) {
      return bad(limits("the width of a hidden layer", width, 1, kMaxWidth));
    }
  }
  return {};
}

/// Names and shapes, one after the other.
class TensorList {
 public:
  void matrix(std::string name, std::size_t rows, std::size_t columns) {
    add(std::move(name), {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns)},
        DecisionRole::Matrix);
  }
  void small(std::string name, std::vector<std::uint32_t> shape) {
    add(std::move(name), std::move(shape), DecisionRole::Small);
  }
  std::vector<DecisionTensor> take() { return std::move(tensors_); }

 private:
  void add(std::string name, std::vector<std::uint32_t> shape, DecisionRole role) {
    tensors_.push_back({std::move(name), std::move(shape), role});
  }
  std::vector<DecisionTensor> tensors_;
};

/// The hidden layers over an input of `width` numbers; returns the width of the last.
std::uint32_t add_hidden(TensorList& list, const std::vector<std::uint32_t>& hidden,
                         std::size_t width) {
  for (std::size_t l = 0; l < hidden.size(); ++l) {
    const std::string at = "hidden." + std::to_string(l);
    list.matrix(at + ".weight", hidden[l], width);
    list.small(at + ".bias", {hidden[l]});
    width = hidden[l];
  }
  return static_cast<std::uint32_t>(width);
}

}  // namespace

std::string_view decision_kind_name(DecisionKind kind) {
  return std::ranges::find(kKinds, kind, [](const auto& k) { return k.first; })->second;
}

std::size_t DecisionTensor::size() const {
  std::size_t size = 1;
  for (const std::uint32_t n : shape) {
    size *= n;
  }
  return size;
}

std::uint64_t DecisionConfig::parameter_count() const {
  std::uint64_t count = 0;
  for (const DecisionTensor& tensor : decision_tensors(*this)) {
    count += tensor.name.starts_with("input.") ? 0 : tensor.size();
  }
  return count;
}

Status DecisionConfig::validate() const {
  for (const Field& field : fields_of(kind)) {
    const std::uint32_t value = this->*field.value;
    if (value < field.low || value > field.high) {
      return bad(limits(field.name, value, field.low, field.high));
    }
  }
  if (kind == DecisionKind::Transformer) {
    if (head_dim % 16 != 0) {
      return bad("head_dim is " + std::to_string(head_dim) + ", it must be a multiple of 16");
    }
    if (!(norm_eps > 0.0F) || !(norm_eps <= 0.1F)) {
      return bad("norm_eps must be above 0 and at most 0.1");
    }
    return {};
  }
  if (kind == DecisionKind::Ranker) {
    if (Status status = check_features(features); !status) {
      return status;
    }
  }
  return check_hidden(hidden);
}

DecisionConfig default_ranker_config(std::vector<std::string> features) {
  DecisionConfig config;
  config.kind = DecisionKind::Ranker;
  config.features = std::move(features);
  config.hidden = {64, 32};
  return config;
}

DecisionConfig default_windowed_mlp_config(std::uint32_t vocabulary_size, std::uint32_t actions) {
  DecisionConfig config;
  config.kind = DecisionKind::WindowedMlp;
  config.vocabulary_size = vocabulary_size;
  config.actions = actions;
  config.window = 8;
  config.embedding_dim = 16;
  config.hidden = {64};
  return config;
}

DecisionConfig default_transformer_config(std::uint32_t vocabulary_size, std::uint32_t actions) {
  DecisionConfig config;
  config.kind = DecisionKind::Transformer;
  config.vocabulary_size = vocabulary_size;
  config.actions = actions;
  config.window = 8;
  config.embedding_dim = 64;
  config.layers = 1;
  config.heads = 4;
  config.head_dim = 16;
  config.ffn_dim = 128;
  return config;
}

std::vector<DecisionTensor> decision_tensors(const DecisionConfig& config) {
  TensorList list;
  const std::uint32_t e = config.embedding_dim;
  if (config.kind == DecisionKind::Ranker) {
    const auto f = static_cast<std::uint32_t>(config.features.size());
    list.small("input.mean", {f});
    list.small("input.scale", {f});
    const std::uint32_t last = add_hidden(list, config.hidden, f);
    list.small("out.weight", {1, last});
    list.small("skip.weight", {1, f});
    list.small("out.bias", {1});
    return list.take();
  }
  list.matrix("embedding.weight", config.vocabulary_size, e);
  std::uint32_t last = e;
  if (config.kind == DecisionKind::WindowedMlp) {
    last = add_hidden(list, config.hidden, std::size_t{config.window} * e);
  } else {
    list.small("position.weight", {config.window, e});
    for (std::uint32_t l = 0; l < config.layers; ++l) {
      const std::string at = "layers." + std::to_string(l) + ".";
      list.small(at + "attn_norm.weight", {e});
      list.matrix(at + "attn.w_q", config.attention_dim(), e);
      list.matrix(at + "attn.w_kv", 2 * config.attention_dim(), e);
      list.matrix(at + "attn.w_o", e, config.attention_dim());
      list.small(at + "ffn_norm.weight", {e});
      list.matrix(at + "ffn.w_gate", config.ffn_dim, e);
      list.matrix(at + "ffn.w_up", config.ffn_dim, e);
      list.matrix(at + "ffn.w_down", e, config.ffn_dim);
    }
    list.small("final_norm.weight", {e});
  }
  list.matrix("out.weight", config.actions, last);
  list.small("out.bias", {config.actions});
  return list.take();
}

DecisionWeights random_decision_weights(const DecisionConfig& config, std::uint64_t seed) {
  DecisionWeights weights;
  SplitMix random(seed);
  for (const DecisionTensor& tensor : decision_tensors(config)) {
    std::vector<float>& values = weights.emplace_back(tensor.size(), 0.0F);
    const std::string_view name = tensor.name;
    if (name.ends_with("norm.weight") || name == "input.scale") {
      std::ranges::fill(values, 1.0F);
    } else if (!name.ends_with("bias") && name != "input.mean" && name != "skip.weight") {
      // Uniform with variance 1/columns (Glorot and Bengio 2010, with the inputs alone); vectors of
      // tokens have unit variance, as if each were one input.
      const bool vectors = name == "embedding.weight" || name == "position.weight";
      const double columns = vectors ? 1.0 : static_cast<double>(tensor.shape.back());
      const auto bound = static_cast<float>(std::sqrt(3.0 / columns));
      for (float& value : values) {
        value = bound * random.next();
      }
    }
  }
  return weights;
}

std::string decision_config_json(const DecisionConfig& config) {
  Json json = {{"kind", decision_kind_name(config.kind)}};
  if (config.kind == DecisionKind::Ranker) {
    json["features"] = config.features;
  }
  for (const Field& field : fields_of(config.kind)) {
    json[field.name] = config.*field.value;
  }
  if (config.kind == DecisionKind::Transformer) {
    json["norm_eps"] = static_cast<double>(config.norm_eps);
  } else {
    json["hidden"] = config.hidden;
  }
  return json.dump();
}

bool is_decision_model(const format::ModelFile& file) {
  const auto metadata = format::metadata(file);
  if (!metadata) {
    return false;
  }
  const auto found = metadata->find("architecture");
  return found != metadata->end() && found->is_string() && *found == kDecision;
}

Result<DecisionConfig> read_decision_config(const format::ModelFile& file) {
  const std::string where = file.path() + ": metadata.config";
  const auto json = format::config_of(file, kDecision);
  if (!json) {
    return json.error();
  }
  const auto corrupt = [&](const std::string& what) {
    return Error{ErrorCode::Corrupt, where + ": " + what};
  };
  const auto kind = format::json_string(*json, "kind", where);
  if (!kind) {
    return kind.error();
  }
  const auto known = std::ranges::find(kKinds, *kind, [](const auto& k) { return k.second; });
  if (known == std::end(kKinds)) {
    return Error{ErrorCode::Unsupported,
                 where + ".kind is none of: mlp_ranker, windowed_mlp, transformer"};
  }
  DecisionConfig config;
  config.kind = known->first;
  for (const Field& field : fields_of(config.kind)) {
    auto value = format::json_integer(*json, field.name, field.low, field.high, where);
    if (!value) {
      return value.error();
    }
    config.*field.value = static_cast<std::uint32_t>(*value);
  }
  const auto list = [&](const char* name, std::size_t limit) -> const nlohmann::json* {
    const auto found = json->find(name);
    return found != json->end() && found->is_array() && found->size() <= limit ? &*found : nullptr;
  };
  if (config.kind == DecisionKind::Ranker) {
    const nlohmann::json* features = list("features", kMaxDecisionFeatures);
    if (features == nullptr) {
      return corrupt("features is no list of up to 256 names");
    }
    for (const nlohmann::json& name : *features) {
      if (!name.is_string()) {
        return corrupt("a feature's name is no string");
      }
      config.features.push_back(name.get<std::string>());
    }
  }
  if (config.kind == DecisionKind::Transformer) {
    auto eps = format::json_number(*json, "norm_eps", where);
    if (!eps) {
      return eps.error();
    }
    config.norm_eps = static_cast<float>(*eps);
  } else {
    const nlohmann::json* hidden = list("hidden", kMaxHiddenLayers);
    if (hidden == nullptr) {
      return corrupt("hidden is no list of up to 4 widths");
    }
    for (const nlohmann::json& width : *hidden) {
      if (!width.is_number_unsigned() || width.get<std::uint64_t>() > kMaxWidth) {
        return corrupt("a width in hidden is no number of 1 to " + std::to_string(kMaxWidth));
      }
      config.hidden.push_back(width.get<std::uint32_t>());
    }
  }
  if (Status valid = config.validate(); !valid) {
    return corrupt(valid.error().message);
  }
  return config;
}

Status write_decision_model(const std::string& path, const DecisionConfig& config,
                            const DecisionWeights& weights, std::string_view record_json) {
  if (Status valid = config.validate(); !valid) {
    return valid;
  }
  const std::vector<DecisionTensor> tensors = decision_tensors(config);
  if (weights.size() != tensors.size()) {
    return bad("there are " + std::to_string(weights.size()) + " tensors, the configuration has " +
               std::to_string(tensors.size()));
  }
  nlohmann::json metadata = nlohmann::json::object();
  if (!record_json.empty()) {
    auto record = format::parse_json(record_json);
    if (!record) {
      return record.error();
    }
    if (!record->is_object()) {
      return bad("the record for the metadata is no JSON object");
    }
    metadata = std::move(*record);
  }
  auto config_json = format::parse_json(decision_config_json(config));
  if (!config_json) {
    return config_json.error();
  }
  metadata["architecture"] = kDecision;
  metadata["config"] = std::move(*config_json);
  auto writer = format::ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (Status status = writer->add_f32(tensors[i].name, tensors[i].shape, weights[i]); !status) {
      return status;
    }
  }
  if (Status status = writer->set_metadata(metadata.dump()); !status) {
    return status;
  }
  return writer->finish();
}

}  // namespace laya::model

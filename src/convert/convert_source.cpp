#include "convert/convert_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "convert/convert_config.h"
#include "model/decoder/decoder_weights.h"

namespace laya::convert {
namespace {

using format::Checkpoint;
using format::CheckpointKind;
using format::SourceTensor;
using model::DecoderConfig;
using model::DecoderFamily;

/// How a kind of checkpoint calls our tensors. "" where it has none.
struct PartName {
  std::string_view ours, gguf, hugging_face, meta;
};

constexpr std::array kOuterNames{
    PartName{"embedding.weight", "token_embd.weight", "embed_tokens.weight",
             "tok_embeddings.weight"},
    PartName{"final_norm.weight", "output_norm.weight", "norm.weight", "norm.weight"},
    PartName{"head.weight", "output.weight", "lm_head.weight", "output.weight"},
};

constexpr std::array kLayerNames{
    PartName{"attn_norm.weight", "attn_norm.weight", "input_layernorm.weight",
             "attention_norm.weight"},
    PartName{"attn.q.weight", "attn_q.weight", "self_attn.q_proj.weight", "attention.wq.weight"},
    PartName{"attn.k.weight", "attn_k.weight", "self_attn.k_proj.weight", "attention.wk.weight"},
    PartName{"attn.v.weight", "attn_v.weight", "self_attn.v_proj.weight", "attention.wv.weight"},
    PartName{"attn.o.weight", "attn_output.weight", "self_attn.o_proj.weight",
             "attention.wo.weight"},
    PartName{"attn.q.bias", "attn_q.bias", "self_attn.q_proj.bias", ""},
    PartName{"attn.k.bias", "attn_k.bias", "self_attn.k_proj.bias", ""},
    PartName{"attn.v.bias", "attn_v.bias", "self_attn.v_proj.bias", ""},
    PartName{"attn.q_norm.weight", "attn_q_norm.weight", "self_attn.q_norm.weight", ""},
    PartName{"attn.k_norm.weight", "attn_k_norm.weight", "self_attn.k_norm.weight", ""},
    PartName{"attn_post_norm.weight", "post_attention_norm.weight",
             "post_attention_layernorm.weight", ""},
    PartName{"ffn_norm.weight", "ffn_norm.weight", "post_attention_layernorm.weight",
             "ffn_norm.weight"},
    PartName{"ffn_post_norm.weight", "post_ffw_norm.weight", "post_feedforward_layernorm.weight",
             ""},
    PartName{"ffn.gate.weight", "ffn_gate.weight", "mlp.gate_proj.weight",
             "feed_forward.w1.weight"},
    PartName{"ffn.up.weight", "ffn_up.weight", "mlp.up_proj.weight", "feed_forward.w3.weight"},
    PartName{"ffn.down.weight", "ffn_down.weight", "mlp.down_proj.weight",
             "feed_forward.w2.weight"},
};

enum class Naming : std::uint8_t { Gguf, HuggingFace, Meta };

/// The checkpoint's own names for ours.
class Names {
 public:
  Names(Naming naming, std::string root, std::string head_root, DecoderFamily family)
      : naming_(naming),
        root_(std::move(root)),
        head_root_(std::move(head_root)),
        gemma_(family == DecoderFamily::Gemma3) {}

  /// "" for a tensor that this kind of checkpoint does not know.
  std::string source_of(std::string_view ours) const {
    constexpr std::string_view kLayers = "layers.";
    if (!ours.starts_with(kLayers)) {
      const auto* name = std::ranges::find(kOuterNames, ours, &PartName::ours);
      const bool is_head = ours == "head.weight";
      return (is_head ? head_root_ : root_) + std::string(pick(*name));
    }
    const std::size_t dot = ours.find('.', kLayers.size());
    const std::string layer(ours.substr(kLayers.size(), dot - kLayers.size()));
    const auto* name = std::ranges::find(kLayerNames, ours.substr(dot + 1), &PartName::ours);
    if (name == kLayerNames.end() || pick(*name).empty()) return "";
    // Gemma has both norms: what others call post_attention is post_attention in earnest there.
    const bool gemma_norm =
        naming_ == Naming::HuggingFace && gemma_ && name->ours == "ffn_norm.weight";
    const std::string_view theirs =
        gemma_norm ? std::string_view("pre_feedforward_layernorm.weight") : pick(*name);
    return root_ + (naming_ == Naming::Gguf ? "blk." : "layers.") + layer + "." +
           std::string(theirs);
  }

 private:
  std::string_view pick(const PartName& name) const {
    return naming_ == Naming::Gguf          ? name.gguf
           : naming_ == Naming::HuggingFace ? name.hugging_face
                                            : name.meta;
  }

  Naming naming_;
  std::string root_;       ///< before layers, embedding and final norm: "model."
  std::string head_root_;  ///< before the head: ""
  bool gemma_;
};

/// What stands before `name` in the one tensor whose name ends so; nothing where none or several
/// do.
std::optional<std::string> root_of(const Checkpoint& checkpoint, std::string_view name) {
  std::optional<std::string> root;
  for (const SourceTensor& tensor : checkpoint.tensors()) {
    if (!tensor.name.ends_with(name)) continue;
    const std::string before = tensor.name.substr(0, tensor.name.size() - name.size());
    if (!before.empty() && before.back() != '.') continue;
    if (root) return std::nullopt;
    root = before;
  }
  return root;
}

Error corrupt(const Checkpoint& checkpoint, const std::string& what) {
  return {ErrorCode::Corrupt, checkpoint.path() + ": " + what};
}

/// A field of the configuration with the number of rows or columns that it demands.
struct Demand {
  std::string field;
  std::uint64_t value;
};

/// The fields behind each dimension of one of our tensors, in words of the configuration.
std::vector<Demand> demands_of(const std::string& ours, const DecoderConfig& c) {
  const Demand d{"hidden width", c.hidden_dim}, v{"vocabulary size", c.vocabulary_size},
      f{"feed-forward width", c.ffn_dim}, q{"heads × head dimension", c.q_dim()},
      kv{"key-value heads × head dimension", c.kv_dim()}, hd{"head dimension", c.head_dim};
  const auto is = [&](std::string_view end) { return ours.ends_with(end); };
  if (ours == "embedding.weight" || ours == "head.weight") return {v, d};
  if (is("attn.q.weight")) return {q, d};
  if (is("attn.k.weight") || is("attn.v.weight")) return {kv, d};
  if (is("attn.o.weight")) return {d, q};
  if (is("attn.q.bias")) return {q};
  if (is("attn.k.bias") || is("attn.v.bias")) return {kv};
  if (is("q_norm.weight") || is("k_norm.weight")) return {hd};
  if (is("gate.weight") || is("up.weight")) return {f, d};
  if (is("down.weight")) return {d, f};
  return {d};
}

Status check_shape(const Checkpoint& checkpoint, const StatedConfig& stated,
                   const std::string& ours, const SourceTensor& tensor) {
  const std::vector<Demand> demands = demands_of(ours, stated.config);
  if (tensor.shape.size() != demands.size()) {
    return corrupt(checkpoint, "tensor " + tensor.name + " is " + format::shape_text(tensor.shape) +
                                   ", it should have " + std::to_string(demands.size()) +
                                   " dimensions");
  }
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (tensor.shape[i] != demands[i].value) {
      return corrupt(checkpoint, stated.where + " says " + demands[i].field + " " +
                                     std::to_string(demands[i].value) + ", but tensor " +
                                     tensor.name + " is " + format::shape_text(tensor.shape));
    }
  }
  return {};
}

/// Tensors that mean nothing to us, by the end of their names.
bool may_be_ignored(std::string_view name, bool tied) {
  constexpr std::array<std::string_view, 4> kIgnored{"rotary_emb.inv_freq", "rope_freqs.weight",
                                                     "attention.bias", "masked_bias"};
  return std::ranges::any_of(kIgnored, [&](std::string_view end) { return name.ends_with(end); }) ||
         (tied && (name.ends_with("lm_head.weight") || name.ends_with("output.weight")));
}

/// A tensor that nobody asked for means that the model is not what we take it for.
Status check_no_others(const Checkpoint& checkpoint, const SourceModel& source,
                       const std::string& root) {
  std::set<std::string_view> used;
  for (const SourcePart& part : source.parts) used.insert(part.tensor->name);
  for (const SourceTensor& tensor : checkpoint.tensors()) {
    const bool other_half = !tensor.name.starts_with(root);  // the vision half of Gemma 3
    if (!used.contains(tensor.name) && !other_half &&
        !may_be_ignored(tensor.name, source.config.tied_head)) {
      return Error{ErrorCode::Unsupported,
                   checkpoint.path() + ": tensor " + format::in_quotes(tensor.name) +
                       " belongs to no " + std::string(model::family_name(source.family)) +
                       " model that this version knows; without it the result would be wrong"};
    }
  }
  return {};
}

std::uint64_t rows_of(const Checkpoint& checkpoint, const std::string& name) {
  const SourceTensor* tensor = checkpoint.find(name);
  return tensor == nullptr || tensor->shape.empty() ? 0 : tensor->shape.front();
}

struct Opened {
  StatedConfig stated;
  Naming naming = Naming::Gguf;
  std::string root, head_root;
  RopeRows rope_rows = RopeRows::Halves;
  NormStored norm_stored = NormStored::Effective;
};

Result<Opened> open_hugging_face(const Checkpoint& checkpoint) {
  Opened opened;
  opened.naming = Naming::HuggingFace;
  auto root = root_of(checkpoint, "embed_tokens.weight");
  if (!root) return corrupt(checkpoint, "no tensor, or several, called …embed_tokens.weight");
  opened.root = *root;
  // "lm_head" stands beside "model"; so it does in the text half of Gemma 3, which is either
  // "language_model.model" or "model.language_model".
  constexpr std::string_view kModel = "model.";
  if (opened.root.ends_with("." + std::string(kModel))) {
    opened.head_root = opened.root.substr(0, opened.root.size() - kModel.size());
  }
  auto json = checkpoint.side_file("config.json");
  if (!json) return json.error();
  auto stated = hugging_face_config(*json);
  if (!stated) {
    return Error{stated.error().code, checkpoint.path() + ": " + stated.error().message};
  }
  opened.stated = std::move(*stated);
  if (opened.stated.family == DecoderFamily::Gemma3) opened.norm_stored = NormStored::LessOne;
  return opened;
}

Result<Opened> open_meta(const Checkpoint& checkpoint, const std::string& root) {
  Opened opened;
  opened.naming = Naming::Meta;
  opened.root = opened.head_root = root;
  opened.rope_rows = RopeRows::Interleaved;
  if (const format::Llama2cConfig* header = checkpoint.llama2c()) {
    auto stated = llama2c_config(*header);
    if (!stated) {
      return Error{stated.error().code, checkpoint.path() + ": " + stated.error().message};
    }
    opened.stated = std::move(*stated);
    return opened;
  }
  if (!checkpoint.has_side_file("params.json")) {
    return Error{ErrorCode::BadArgument,
                 checkpoint.path() +
                     ": its names are those of Meta's own format, whose configuration is "
                     "params.json: put it beside the file, or convert the Hugging Face folder"};
  }
  auto json = checkpoint.side_file("params.json");
  if (!json) return json.error();
  auto stated = params_json_config(*json, rows_of(checkpoint, root + "tok_embeddings.weight"),
                                   rows_of(checkpoint, root + "layers.0.feed_forward.w1.weight"));
  if (!stated) return Error{stated.error().code, checkpoint.path() + ": " + stated.error().message};
  opened.stated = std::move(*stated);
  return opened;
}

Result<Opened> open_source(const Checkpoint& checkpoint) {
  if (const format::GgufFile* gguf = checkpoint.gguf()) {
    auto stated = gguf_config(*gguf, rows_of(checkpoint, "token_embd.weight"));
    if (!stated) return stated.error();
    Opened opened;
    opened.stated = std::move(*stated);
    opened.rope_rows =
        opened.stated.family == DecoderFamily::Llama ? RopeRows::Interleaved : RopeRows::Halves;
    return opened;
  }
  if (checkpoint.kind() == CheckpointKind::Llama2c) return open_meta(checkpoint, "");
  if (const auto root = root_of(checkpoint, "tok_embeddings.weight")) {
    return open_meta(checkpoint, *root);
  }
  return open_hugging_face(checkpoint);
}

std::string file_name_of(const std::string& path) {
  const std::filesystem::path as_path(path);
  const std::string stem =
      (std::filesystem::path(path).has_filename() ? as_path : as_path.parent_path())
          .stem()
          .string();
  return stem.empty() ? "model" : stem;
}

}  // namespace

const SourcePart* SourceModel::find(std::string_view part) const {
  const auto found = std::ranges::find(parts, part, &SourcePart::name);
  return found == parts.end() ? nullptr : &*found;
}

Result<SourceModel> read_source_model(const Checkpoint& checkpoint) {
  auto opened = open_source(checkpoint);
  if (!opened) return opened.error();
  const StatedConfig& stated = opened->stated;
  if (auto status = model::check(stated.config); !status) {
    return Error{ErrorCode::Corrupt,
                 checkpoint.path() + ": " + stated.where + ": " + status.error().message};
  }
  SourceModel source;
  source.family = stated.family;
  source.config = stated.config;
  source.norm_stored = opened->norm_stored;
  source.name = stated.name.empty() ? file_name_of(checkpoint.path()) : stated.name;
  source.licence = stated.licence;
  const Names names(opened->naming, opened->root, opened->head_root, source.family);
  for (const model::TensorSpec& spec : model::decoder_tensor_specs(source.config)) {
    const std::string theirs = names.source_of(spec.name);
    const SourceTensor* tensor = theirs.empty() ? nullptr : checkpoint.find(theirs);
    if (tensor == nullptr) {
      return corrupt(checkpoint,
                     "tensor " + (theirs.empty() ? spec.name : theirs) + " is missing; " +
                         stated.where + " says " + std::to_string(source.config.layers) +
                         " layers, " +
                         (source.config.tied_head ? "a tied head" : "a head of its own"));
    }
    if (auto status = check_shape(checkpoint, stated, spec.name, *tensor); !status) {
      return status.error();
    }
    SourcePart part;
    part.name = spec.name;
    part.tensor = tensor;
    part.role = spec.role == model::TensorRole::Matrix ? SourceRole::Matrix
                : spec.name.ends_with(".bias")         ? SourceRole::Vector
                                                       : SourceRole::Norm;
    if (opened->rope_rows == RopeRows::Interleaved) {
      const bool is_q = spec.name.find("attn.q.") != std::string::npos;
      const bool is_k = spec.name.find("attn.k.") != std::string::npos;
      part.heads = is_q ? source.config.heads : is_k ? source.config.kv_heads : 0;
    }
    source.parts.push_back(std::move(part));
  }
  // Of a model with a vision half only the tensors of the text half are looked at.
  const bool is_half = opened->root.find("language_model") != std::string::npos;
  const std::string text_root = is_half ? opened->root : opened->head_root;
  if (auto status = check_no_others(checkpoint, source, text_root); !status) return status.error();
  return source;
}

}  // namespace laya::convert

// The shape of a decoder: one configurable Llama family (Llama 2/3, SmolLM2, Qwen2/2.5/3, Gemma 3
// text). The pass itself is spelled out in decoder_reference.cpp, which is the specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::model {

/// The families that one configuration covers.
enum class DecoderFamily {
  Llama,   ///< Llama 2/3, SmolLM2
  Qwen2,   ///< biases on q, k, v
  Qwen3,   ///< q/k norm
  Gemma3,  ///< sliding and global layers, scaled embeddings, q/k norm and post norms, GeGLU
};
inline constexpr DecoderFamily kDecoderFamilies[] = {DecoderFamily::Llama, DecoderFamily::Qwen2,
                                                     DecoderFamily::Qwen3, DecoderFamily::Gemma3};
/// "llama", "qwen2", "qwen3", "gemma3": as in the metadata.
std::string_view family_name(DecoderFamily family);

/// What stands between gate and up: silu(gate) * up (SwiGLU; Shazeer 2020) or gelu_tanh(gate) * up
/// (GeGLU).
enum class Activation : std::uint8_t { SiLU, GeluTanh };

/// How rotation frequencies are stretched for contexts longer than those trained on. Applies to
/// layers that do not slide.
struct RopeScaling {
  enum class Kind : std::uint8_t {
    None,
    Linear,  ///< frequency / factor (Chen et al. 2023)
    Llama3,  ///< by wavelength, smooth between two bounds (Llama 3.1's model card)
  };
  Kind kind = Kind::None;
  float factor = 1;
  float low_freq_factor = 1;              ///< Llama3 only
  float high_freq_factor = 4;             ///< Llama3 only
  std::uint32_t original_context = 8192;  ///< Llama3 only

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

/// Numbers that fix every tensor's shape and the pass over them. A value; the same in the
/// converter, in the file and in every backend.
struct DecoderConfig {
  std::uint32_t vocabulary_size = 0;  ///< V
  std::uint32_t hidden_dim = 0;       ///< d: width of the residual stream
  std::uint32_t layers = 0;           ///< L
  std::uint32_t heads = 0;            ///< H: query heads
  std::uint32_t kv_heads = 0;         ///< heads of keys and values; divides H
  std::uint32_t head_dim = 0;         ///< even; H * head_dim need not be d
  std::uint32_t ffn_dim = 0;          ///< f
  std::uint32_t max_context = 0;      ///< positions are below this

  float norm_eps = 1e-5F;
  Activation activation = Activation::SiLU;
  bool qkv_bias = false;    ///< Qwen2
  bool qk_norm = false;     ///< Qwen3, Gemma 3: rms norm of each head's query and key
  bool post_norms = false;  ///< Gemma 3: a norm after attention and after the feed-forward as well
  bool tied_head = true;    ///< logits from the embedding's rows
  float embedding_scale = 1;      ///< Gemma: sqrt(d)
  float attention_scale = 1;      ///< mostly 1 / sqrt(head_dim)
  float rope_base = 10000;        ///< of layers that do not slide
  float rope_base_local = 10000;  ///< of layers that slide
  RopeScaling rope_scaling;
  std::uint32_t sliding_window =
      0;  ///< tokens that a sliding layer attends to, itself included; 0: none slides
  std::vector<bool> sliding_layers;  ///< [L], true: slides; empty means none
  float logit_soft_cap = 0;          ///< logits = cap * tanh(logits / cap); 0: none

  friend bool operator==(const DecoderConfig&, const DecoderConfig&) = default;

  /// Rows of q, and of k or v.
  std::size_t q_dim() const { return std::size_t{heads} * head_dim; }
  std::size_t kv_dim() const { return std::size_t{kv_heads} * head_dim; }
  bool slides(std::size_t layer) const {
    return sliding_window != 0 && layer < sliding_layers.size() && sliding_layers[layer];
  }
  /// All trained numbers.
  std::uint64_t parameter_count() const;
};

/// BadArgument naming the field, its value and the limit; limits keep every size far below 2^31
/// rows.
Status check(const DecoderConfig& config);

/// `"architecture"` of a decoder's metadata.
inline constexpr std::string_view kDecoderArchitecture = "decoder";

/// The object for `"config"` in the metadata, every field explicit:
/// {"vocabulary_size":49152,…,"activation":"silu","qkv_bias":false,…,
///  "rope_scaling":{"kind":"none","factor":1,"low_freq_factor":1,"high_freq_factor":4,"original_context":8192},
///  "sliding_window":0,"sliding_layers":[false,…],"logit_soft_cap":0}
/// Activations: "silu", "gelu_tanh"; scaling kinds: "none", "linear", "llama3".
std::string decoder_config_json(const DecoderConfig& config);

}  // namespace laya::model

#include "model/bench/random_decoder.h"

#include <cmath>
#include <vector>

#include "format/model_writer.h"
#include "model/core/split_mix.h"
#include "model/decoder/decoder_weights.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

Status add_matrix(format::ModelWriter& writer, const TensorSpec& spec,
                  std::span<const float> numbers, const Precision& precision) {
  if (precision.type == simd::WeightType::Fp32) {
    return writer.add_f32(spec.name, spec.shape, numbers);
  }
  const bool halves = precision.type == simd::WeightType::Fp16;
  const simd::PackedShape shape{spec.shape[0], spec.shape[1], precision.type,
                                halves ? std::size_t{0} : precision.group,
                                halves ? simd::Minima::None : precision.minima};
  if (auto status = simd::check_shape(shape); !status) {
    return status;
  }
  AlignedBytes bytes(simd::packed_size_bytes(shape));
  if (auto status = simd::pack(shape, numbers, bytes.bytes()); !status) {
    return status;
  }
  format::Layout layout;
  layout.rank = 2;
  layout.shape = {spec.shape[0], spec.shape[1], 0, 0};
  layout.element = halves                                     ? format::Element::PackedF16
                   : precision.type == simd::WeightType::Int4 ? format::Element::PackedInt4
                                                              : format::Element::PackedInt8;
  layout.group = static_cast<std::uint16_t>(shape.group);
  layout.has_minima = shape.minima == simd::Minima::PerGroup;
  return writer.add_tensor(spec.name, layout, std::as_const(bytes).bytes());
}

}  // namespace

DecoderConfig tiny_decoder_config(DecoderFamily family) {
  DecoderConfig c;
  c.vocabulary_size = 91;
  c.hidden_dim = 40;
  c.layers = 3;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 16;
  c.ffn_dim = 56;
  c.max_context = 4096;
  c.attention_scale = 0.25F;
  c.sliding_layers.assign(c.layers, false);
  switch (family) {
    case DecoderFamily::Llama:
      c.rope_scaling = {RopeScaling::Kind::Llama3, 8, 1, 4, 64};
      break;
    case DecoderFamily::Qwen2:
      c.qkv_bias = true;
      c.rope_base = 1e6F;
      c.tied_head = false;
      break;
    case DecoderFamily::Qwen3:
      c.qk_norm = true;
      c.norm_eps = 1e-6F;
      c.rope_base = 1e6F;
      c.head_dim = 32;
      c.attention_scale = 1 / std::sqrt(32.0F);
      break;
    case DecoderFamily::Gemma3:
      c.activation = Activation::GeluTanh;
      c.qk_norm = true;
      c.post_norms = true;
      c.kv_heads = 1;
      c.embedding_scale = std::sqrt(40.0F);
      c.norm_eps = 1e-6F;
      c.rope_base = 1e6F;
      c.rope_scaling.kind = RopeScaling::Kind::Linear;
      c.rope_scaling.factor = 8;
      c.sliding_window = 6;
      c.sliding_layers = {true, true, false};
      c.logit_soft_cap = 30;
      break;
  }
  return c;
}

DecoderConfig smollm2_shape() {
  DecoderConfig c;
  c.vocabulary_size = 49152;
  c.hidden_dim = 576;
  c.layers = 30;
  c.heads = 9;
  c.kv_heads = 3;
  c.head_dim = 64;
  c.ffn_dim = 1536;
  c.max_context = 8192;
  c.attention_scale = 0.125F;
  c.rope_base = 100000;
  return c;
}

DecoderConfig small_decoder_shape() {
  DecoderConfig c = smollm2_shape();
  c.vocabulary_size = 16384;
  c.hidden_dim = 384;
  c.layers = 12;
  c.heads = 6;
  c.kv_heads = 2;
  c.ffn_dim = 1024;
  return c;
}

Status write_random_decoder(const std::string& path, DecoderFamily family,
                            const DecoderConfig& config, const Precision& precision,
                            std::uint64_t seed) {
  if (auto status = check(config); !status) {
    return status;
  }
  auto writer = format::ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  SplitMix random(seed);
  std::vector<float> numbers;
  for (const TensorSpec& spec : decoder_tensor_specs(config)) {
    const bool matrix = spec.role == TensorRole::Matrix;
    const bool norm = spec.name.ends_with("norm.weight");
    const float columns = static_cast<float>(spec.shape.back());
    // Uniform in ±b has variance b²/3. Logits spread as a trained model's do where the head is
    // larger.
    const bool head = spec.name == "embedding.weight" || spec.name == "head.weight";
    const float scale = matrix ? (head ? 3.0F : 1.0F) * std::sqrt(3.0F / columns) : 0.3F;
    numbers.resize(std::size_t{spec.shape[0]} * (matrix ? spec.shape[1] : 1));
    for (float& number : numbers) {
      number = (norm ? 1.0F : 0.0F) + scale * random.next();
    }
    if (auto status = matrix ? add_matrix(*writer, spec, numbers, precision)
                             : writer->add_f32(spec.name, spec.shape, numbers);
        !status) {
      return status;
    }
  }
  const std::string metadata =
      "{\"architecture\":\"" + std::string(kDecoderArchitecture) + "\",\"family\":\"" +
      std::string(family_name(family)) +
      "\",\"name\":\"random\",\"licence\":\"CC0-1.0\",\"config\":" + decoder_config_json(config) +
      ",\"generator\":\"random_decoder\"}";
  if (auto status = writer->set_metadata(metadata); !status) {
    return status;
  }
  return writer->finish();
}

}  // namespace laya::model

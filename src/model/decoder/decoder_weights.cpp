#include "model/decoder/decoder_weights.h"

#include "model/core/tensor_lookup.h"
#include "model/gru/weights_loading.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using format::Element;
using format::ModelFile;
using format::TensorView;

constexpr const char* kEmbedding = "embedding.weight";
constexpr const char* kHead = "head.weight";

/// A matrix [rows, columns] of an element type that weights may have.
Result<TensorView> find_matrix(const ModelFile& file, const std::string& name, std::uint32_t rows,
                               std::uint32_t columns) {
  const std::uint32_t shape[] = {rows, columns};
  auto tensor = find_weights(file, name, shape);
  if (!tensor) {
    return tensor.error();
  }
  const Element element = tensor->layout.element;
  if (!format::is_packed(element) && element != Element::F32 && element != Element::F16) {
    return corrupt_tensor(
        file, name,
        "is " + std::string(format::element_name(element)) + ", weights are f32, f16 or packed");
  }
  return tensor;
}

/// Walks all tensors through two functions of (name, rows, columns) → Result<Matrix> and (name,
/// length) → Result<span<const float>>; stops at the first error.
template <typename Matrix, typename LoadMatrix, typename LoadVector>
Result<DecoderWeights<Matrix>> gather(const DecoderConfig& config, bool has_head,
                                      LoadMatrix&& load_matrix, LoadVector&& load_vector_of) {
  DecoderWeights<Matrix> weights;
  weights.layers.resize(config.layers);
  Status status;
  const auto keep = [&status](auto& into, auto loaded) {
    if (loaded) {
      into = *loaded;
    } else {
      status = loaded.error();
    }
  };
  const auto matrix = [&](Matrix& into, const std::string& name, std::size_t rows,
                          std::size_t columns) {
    if (status) {
      keep(into, load_matrix(name, static_cast<std::uint32_t>(rows),
                             static_cast<std::uint32_t>(columns)));
    }
  };
  const auto vector = [&](std::span<const float>& into, const std::string& name,
                          std::size_t length) {
    if (status) {
      keep(into, load_vector_of(name, static_cast<std::uint32_t>(length)));
    }
  };
  const std::size_t v = config.vocabulary_size, d = config.hidden_dim, f = config.ffn_dim;
  const std::size_t q = config.q_dim(), kv = config.kv_dim(), hd = config.head_dim;
  matrix(weights.embedding, kEmbedding, v, d);
  for (std::size_t l = 0; l < config.layers; ++l) {
    auto& layer = weights.layers[l];
    vector(layer.attn_norm, layer_tensor(l, "attn_norm.weight"), d);
    matrix(layer.q, layer_tensor(l, "attn.q.weight"), q, d);
    matrix(layer.k, layer_tensor(l, "attn.k.weight"), kv, d);
    matrix(layer.v, layer_tensor(l, "attn.v.weight"), kv, d);
    if (config.qkv_bias) {
      vector(layer.q_bias, layer_tensor(l, "attn.q.bias"), q);
      vector(layer.k_bias, layer_tensor(l, "attn.k.bias"), kv);
      vector(layer.v_bias, layer_tensor(l, "attn.v.bias"), kv);
    }
    if (config.qk_norm) {
      vector(layer.q_norm, layer_tensor(l, "attn.q_norm.weight"), hd);
      vector(layer.k_norm, layer_tensor(l, "attn.k_norm.weight"), hd);
    }
    matrix(layer.o, layer_tensor(l, "attn.o.weight"), d, q);
    if (config.post_norms) {
      vector(layer.attn_post_norm, layer_tensor(l, "attn_post_norm.weight"), d);
    }
    vector(layer.ffn_norm, layer_tensor(l, "ffn_norm.weight"), d);
    matrix(layer.gate, layer_tensor(l, "ffn.gate.weight"), f, d);
    matrix(layer.up, layer_tensor(l, "ffn.up.weight"), f, d);
    matrix(layer.down, layer_tensor(l, "ffn.down.weight"), d, f);
    if (config.post_norms) {
      vector(layer.ffn_post_norm, layer_tensor(l, "ffn_post_norm.weight"), d);
    }
  }
  vector(weights.final_norm, "final_norm.weight", d);
  if (has_head) {
    matrix(weights.head, kHead, v, d);
  } else {
    weights.head = weights.embedding;
  }
  if (!status) {
    return status.error();
  }
  return weights;
}

}  // namespace

std::vector<TensorSpec> decoder_tensor_specs(const DecoderConfig& config) {
  std::vector<TensorSpec> specs;
  // Cannot fail: neither function does.
  static_cast<void>(gather<int>(
      config, !config.tied_head,
      [&specs](const std::string& name, std::uint32_t rows, std::uint32_t columns) -> Result<int> {
        specs.push_back({name, TensorRole::Matrix, {rows, columns}});
        return 0;
      },
      [&specs](const std::string& name, std::uint32_t length) -> Result<std::span<const float>> {
        specs.push_back({name, TensorRole::Vector, {length}});
        return std::span<const float>{};
      }));
  return specs;
}

Result<OwnedPackedDecoder> load_packed_decoder(const ModelFile& file, const DecoderConfig& config) {
  OwnedPackedDecoder owned;
  const auto repack = [&owned](const TensorView& tensor) -> Result<simd::PackedMatrix> {
    const simd::PackedShape shape{
        tensor.layout.shape[0], tensor.layout.shape[1],
        tensor.layout.element == Element::F16 ? simd::WeightType::Fp16 : simd::WeightType::Fp32, 0,
        simd::Minima::None};
    if (auto status = simd::check_shape(shape); !status) {
      return status.error();
    }
    std::vector<float> numbers(shape.rows * shape.cols);
    if (auto status = tensor_to_floats(tensor, numbers); !status) {
      return status.error();
    }
    AlignedBytes& bytes = owned.storage.emplace_back(simd::packed_size_bytes(shape));
    if (auto status = simd::pack(shape, numbers, bytes.bytes()); !status) {
      return status.error();
    }
    return simd::view_packed(shape, bytes.bytes());
  };
  auto weights = gather<simd::PackedMatrix>(
      config, !config.tied_head || file.has(kHead),
      [&](const std::string& name, std::uint32_t rows,
          std::uint32_t columns) -> Result<simd::PackedMatrix> {
        auto tensor = find_matrix(file, name, rows, columns);
        if (!tensor) {
          return tensor.error();
        }
        const Element element = tensor->layout.element;
        auto matrix = format::is_packed(element) ? packed_view(*tensor) : repack(*tensor);
        if (!matrix) {
          return corrupt_tensor(file, name, "cannot be used: " + matrix.error().message);
        }
        return matrix;
      },
      [&](const std::string& name, std::uint32_t length) {
        const std::uint32_t shape[] = {length};
        return find_vector(file, name, shape);
      });
  if (!weights) {
    return weights.error();
  }
  owned.weights = std::move(*weights);
  return owned;
}

Result<OwnedFloatDecoder> load_float_decoder(const ModelFile& file, const DecoderConfig& config) {
  OwnedFloatDecoder owned;
  auto weights = gather<FloatMatrix>(
      config, !config.tied_head || file.has(kHead),
      [&](const std::string& name, std::uint32_t rows,
          std::uint32_t columns) -> Result<FloatMatrix> {
        auto tensor = find_matrix(file, name, rows, columns);
        if (!tensor) {
          return tensor.error();
        }
        const Element element = tensor->layout.element;
        std::span<const float> numbers;
        if (element == Element::F32) {
          numbers = tensor->as<float>();
        } else {
          std::vector<float>& converted = owned.storage.emplace_back(std::size_t{rows} * columns);
          if (auto status = tensor_to_floats(*tensor, converted); !status) {
            return corrupt_tensor(file, name, "cannot be used: " + status.error().message);
          }
          numbers = converted;
        }
        if (!simd::all_finite(simd::best_kernels(), numbers)) {
          return corrupt_tensor(file, name, "holds a NaN or an infinity");
        }
        return FloatMatrix{numbers, rows, columns};
      },
      [&](const std::string& name, std::uint32_t length) {
        const std::uint32_t shape[] = {length};
        return find_vector(file, name, shape);
      });
  if (!weights) {
    return weights.error();
  }
  owned.weights = std::move(*weights);
  return owned;
}

}  // namespace laya::model

#include "model/decoder_weights.h"

#include <algorithm>

#include "model/weights_loading.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using format::Element;
using format::ModelFile;
using format::TensorView;

constexpr const char* kEmbedding = "embedding.weight";
constexpr const char* kHead = "head.weight";

Error corrupt(const ModelFile& file, std::string_view tensor, const std::string& what) {
  return Error{ErrorCode::Corrupt, file.path() + ": tensor " + std::string(tensor) + " " + what};
}

std::string shape_text(std::span<const std::uint32_t> shape) {
  std::string text = "[";
  for (const std::uint32_t dimension : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  }
  return text + "]";
}

Result<TensorView> find_weights(const ModelFile& file, const std::string& name,
                                std::span<const std::uint32_t> shape) {
  if (!file.has(name)) {
    return corrupt(file, name, "is missing; the configuration asks for " + shape_text(shape));
  }
  auto tensor = file.tensor(name);
  if (!tensor) {
    return corrupt(file, name, "is a blob; the configuration asks for " + shape_text(shape));
  }
  if (!std::ranges::equal(tensor->layout.dimensions(), shape)) {
    return corrupt(file, name,
                   "has shape " + shape_text(tensor->layout.dimensions()) +
                       ", the configuration asks for " + shape_text(shape));
  }
  return tensor;
}

Result<std::span<const float>> load_vector(const ModelFile& file, const std::string& name,
                                           std::uint32_t length) {
  const std::uint32_t shape[] = {length};
  auto tensor = find_weights(file, name, shape);
  if (!tensor) {
    return tensor.error();
  }
  if (tensor->layout.element != Element::F32) {
    return corrupt(
        file, name,
        "is " + std::string(format::element_name(tensor->layout.element)) + ", it must be f32");
  }
  const std::span<const float> numbers = tensor->as<float>();
  if (!simd::all_finite(simd::best_kernels(), numbers)) {
    return corrupt(file, name, "holds a NaN or an infinity");
  }
  return numbers;
}

/// The kernels' view of a packed tensor.
Result<simd::PackedMatrix> view_of(const TensorView& tensor) {
  simd::PackedShape shape;
  shape.rows = tensor.layout.shape[0];
  shape.cols = tensor.layout.shape[1];
  shape.group = tensor.layout.group;
  shape.minima = tensor.layout.has_minima ? simd::Minima::PerGroup : simd::Minima::None;
  switch (tensor.layout.element) {
    case Element::PackedInt4:
      shape.type = simd::WeightType::Int4;
      break;
    case Element::PackedInt8:
      shape.type = simd::WeightType::Int8;
      break;
    case Element::PackedF16:
      shape.type = simd::WeightType::Fp16;
      break;
    default:
      shape.type = simd::WeightType::Fp32;
      break;
  }
  return simd::view_packed(shape, tensor.data);
}

bool holds_weights(Element element) {
  return format::is_packed(element) || element == Element::F32 || element == Element::F16;
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
        const std::uint32_t shape[] = {rows, columns};
        auto tensor = find_weights(file, name, shape);
        if (!tensor) {
          return tensor.error();
        }
        const Element element = tensor->layout.element;
        if (!holds_weights(element)) {
          return corrupt(file, name,
                         "is " + std::string(format::element_name(element)) +
                             ", weights are f32, f16 or packed");
        }
        auto matrix = format::is_packed(element) ? view_of(*tensor) : repack(*tensor);
        if (!matrix) {
          return corrupt(file, name, "cannot be used: " + matrix.error().message);
        }
        return matrix;
      },
      [&](const std::string& name, std::uint32_t length) {
        return load_vector(file, name, length);
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
        const std::uint32_t shape[] = {rows, columns};
        auto tensor = find_weights(file, name, shape);
        if (!tensor) {
          return tensor.error();
        }
        const Element element = tensor->layout.element;
        if (!holds_weights(element)) {
          return corrupt(file, name,
                         "is " + std::string(format::element_name(element)) +
                             ", weights are f32, f16 or packed");
        }
        std::span<const float> numbers;
        if (element == Element::F32) {
          numbers = tensor->as<float>();
        } else {
          std::vector<float>& converted = owned.storage.emplace_back(std::size_t{rows} * columns);
          if (format::is_packed(element)) {
            auto packed = view_of(*tensor);
            if (!packed) {
              return corrupt(file, name, "cannot be used: " + packed.error().message);
            }
            if (auto status = simd::unpack(*packed, converted); !status) {
              return status.error();
            }
          } else if (auto status = tensor_to_floats(*tensor, converted); !status) {
            return status.error();
          }
          numbers = converted;
        }
        if (!simd::all_finite(simd::best_kernels(), numbers)) {
          return corrupt(file, name, "holds a NaN or an infinity");
        }
        return FloatMatrix{numbers, rows, columns};
      },
      [&](const std::string& name, std::uint32_t length) {
        return load_vector(file, name, length);
      });
  if (!weights) {
    return weights.error();
  }
  owned.weights = std::move(*weights);
  return owned;
}

}  // namespace laya::model

#include "model/gru/weights_loading.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "model/core/tensor_lookup.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using format::Element;
using format::ModelFile;
using format::TensorView;

/// fp16 scales and minima of a packed matrix: an exponent of all ones is an infinity or a NaN.
bool scales_finite(const simd::PackedMatrix& matrix) {
  const std::size_t lists = matrix.minima == simd::Minima::PerGroup ? 2 : 1;
  const std::size_t count = matrix.groups * simd::kBlockRows;
  for (std::size_t block = 0; block < matrix.blocks; ++block) {
    for (std::size_t list = 0; list < lists; ++list) {
      const std::byte* at =
          matrix.data + block * matrix.block_bytes + (list == 0 ? 0 : matrix.minima_offset);
      unsigned bad = 0;
      for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t half;
        std::memcpy(&half, at + i * sizeof(half), sizeof(half));
        bad |= (half & 0x7C00U) == 0x7C00U ? 1U : 0U;
      }
      if (bad != 0) {
        return false;
      }
    }
  }
  return true;
}

/// A matrix that the file does not hold packed.
Result<simd::PackedMatrix> repack(const TensorView& tensor, simd::WeightType type,
                                  std::vector<AlignedBytes>& storage) {
  const bool grouped = type == simd::WeightType::Int8 || type == simd::WeightType::Int4;
  const simd::PackedShape shape{tensor.layout.shape[0], tensor.layout.shape[1], type,
                                grouped ? std::size_t{64} : std::size_t{0}, simd::Minima::None};
  if (auto status = simd::check_shape(shape); !status) {
    return status.error();
  }
  std::vector<float> numbers(shape.rows * shape.cols);
  if (auto status = tensor_to_floats(tensor, numbers); !status) {
    return status.error();
  }
  AlignedBytes& bytes = storage.emplace_back(simd::packed_size_bytes(shape));
  if (auto status = simd::pack(shape, numbers, bytes.bytes()); !status) {
    return status.error();
  }
  return simd::view_packed(shape, bytes.bytes());
}

}  // namespace

Result<simd::PackedMatrix> load_packed_matrix(const ModelFile& file, const std::string& name,
                                              std::uint32_t rows, std::uint32_t columns,
                                              simd::WeightType fp32_as,
                                              std::vector<AlignedBytes>& storage) {
  const std::uint32_t shape[] = {rows, columns};
  auto tensor = find_weights(file, name, shape);
  if (!tensor) {
    return tensor.error();
  }
  const Element element = tensor->layout.element;
  const simd::WeightType type = element == Element::F16 ? simd::WeightType::Fp16 : fp32_as;
  auto matrix = format::is_packed(element) ? packed_view(*tensor) : repack(*tensor, type, storage);
  if (!matrix) {
    return corrupt_tensor(file, name, "cannot be used: " + matrix.error().message);
  }
  const bool has_scales = element == Element::PackedInt8 || element == Element::PackedInt4;
  if (has_scales && !scales_finite(*matrix)) {
    return corrupt_tensor(file, name, "has a scale or minimum that is NaN or infinite");
  }
  return matrix;
}

Status tensor_to_floats(const TensorView& tensor, std::span<float> out) {
  std::size_t count = 1;
  for (const std::uint32_t dimension : tensor.layout.dimensions()) {
    count *= dimension;
  }
  if (out.size() != count) {
    return Error{ErrorCode::BadArgument, "tensor " + std::string(tensor.name) + " has " +
                                             std::to_string(count) + " numbers, room for " +
                                             std::to_string(out.size())};
  }
  switch (tensor.layout.element) {
    case Element::F32:
      std::ranges::copy(tensor.as<float>(), out.begin());
      return {};
    case Element::F16:
      simd::from_fp16(simd::best_kernels(), tensor.as<std::uint16_t>(), out);
      return {};
    case Element::PackedInt8:
    case Element::PackedInt4:
    case Element::PackedF16:
    case Element::PackedF32: {
      auto packed = packed_view(tensor);
      if (!packed) {
        return packed.error();
      }
      return simd::unpack(*packed, out);
    }
    default:
      return Error{ErrorCode::Corrupt,
                   "tensor " + std::string(tensor.name) + " is " +
                       std::string(format::element_name(tensor.layout.element)) +
                       ", weights are f32, f16 or packed"};
  }
}

Result<OwnedFloatWeights> load_float_weights(const ModelFile& file, const GruConfig& config) {
  OwnedFloatWeights owned;
  const auto load_matrix = [&](const std::string& name, std::uint32_t rows,
                               std::uint32_t columns) -> Result<FloatMatrix> {
    const std::uint32_t shape[] = {rows, columns};
    auto tensor = find_weights(file, name, shape);
    if (!tensor) {
      return tensor.error();
    }
    std::span<const float> numbers;
    if (tensor->layout.element == Element::F32) {
      numbers = tensor->as<float>();
    } else {
      std::vector<float>& converted = owned.storage.emplace_back(std::size_t{rows} * columns);
      if (auto status = tensor_to_floats(*tensor, converted); !status) {
        return Error{status.error().code, file.path() + ": " + status.error().message};
      }
      numbers = converted;
    }
    if (!simd::all_finite(simd::best_kernels(), numbers)) {
      return corrupt_tensor(file, name, "holds a NaN or an infinity");
    }
    return FloatMatrix{numbers, rows, columns};
  };
  auto weights = gather_weights<FloatMatrix>(
      config, load_matrix, [&](const std::string& name, std::span<const std::uint32_t> shape) {
        return find_vector(file, name, shape);
      });
  if (!weights) {
    return weights.error();
  }
  owned.weights = std::move(*weights);
  return owned;
}

Result<OwnedPackedWeights> load_packed_weights(const ModelFile& file, const GruConfig& config,
                                               simd::WeightType fp32_as) {
  OwnedPackedWeights owned;
  auto weights = gather_weights<simd::PackedMatrix>(
      config,
      [&](const std::string& name, std::uint32_t rows, std::uint32_t columns) {
        return load_packed_matrix(file, name, rows, columns, fp32_as, owned.storage);
      },
      [&](const std::string& name, std::span<const std::uint32_t> shape) {
        return find_vector(file, name, shape);
      });
  if (!weights) {
    return weights.error();
  }
  owned.weights = std::move(*weights);
  return owned;
}

}  // namespace laya::model

#include "model/core/tensor_lookup.h"

#include <algorithm>

#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using format::Element;
using format::ModelFile;
using format::TensorView;

std::string shape_text(std::span<const std::uint32_t> shape) {
  std::string text = "[";
  for (const std::uint32_t dimension : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  }
  return text + "]";
}

}  // namespace

Error corrupt_tensor(const ModelFile& file, std::string_view tensor, const std::string& what) {
  return Error{ErrorCode::Corrupt, file.path() + ": tensor " + std::string(tensor) + " " + what};
}

Result<TensorView> find_weights(const ModelFile& file, const std::string& name,
                                std::span<const std::uint32_t> shape) {
  if (!file.has(name)) {
    return corrupt_tensor(file, name,
                          "is missing; the configuration asks for " + shape_text(shape));
  }
  auto tensor = file.tensor(name);
  if (!tensor) {
    return corrupt_tensor(file, name, "is a blob; the configuration asks for " + shape_text(shape));
  }
  if (!std::ranges::equal(tensor->layout.dimensions(), shape)) {
    return corrupt_tensor(file, name,
                          "has shape " + shape_text(tensor->layout.dimensions()) +
                              ", the configuration asks for " + shape_text(shape));
  }
  return tensor;
}

Result<std::span<const float>> find_vector(const ModelFile& file, const std::string& name,
                                           std::span<const std::uint32_t> shape) {
  auto tensor = find_weights(file, name, shape);
  if (!tensor) {
    return tensor.error();
  }
  if (tensor->layout.element != Element::F32) {
    return corrupt_tensor(
        file, name,
        "is " + std::string(format::element_name(tensor->layout.element)) + ", it must be f32");
  }
  const std::span<const float> numbers = tensor->as<float>();
  if (!simd::all_finite(simd::best_kernels(), numbers)) {
    return corrupt_tensor(file, name, "holds a NaN or an infinity");
  }
  return numbers;
}

Result<simd::PackedMatrix> packed_view(const TensorView& tensor) {
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

}  // namespace laya::model

#include "train/gru/start_weights.h"

#include <algorithm>

#include "model/core/tensor_lookup.h"
#include "model/gru/gru_weights.h"
#include "model/gru/model_loading.h"
#include "simd/packing.h"

namespace laya::train {
namespace {

Status read_tensor(const format::ModelFile& file, model::TensorRole role, Parameter& into) {
  if (role == model::TensorRole::Vector) {
    Result<std::span<const float>> numbers = model::find_vector(file, into.name, into.shape);
    if (!numbers) return numbers.error();
    std::ranges::copy(*numbers, into.value.begin());
    return {};
  }
  Result<format::TensorView> tensor = model::find_weights(file, into.name, into.shape);
  if (!tensor) return tensor.error();
  if (tensor->layout.element == format::Element::F32) {
    std::ranges::copy(tensor->as<float>(), into.value.begin());
    return {};
  }
  Result<simd::PackedMatrix> packed = model::packed_view(*tensor);
  if (!packed) return model::corrupt_tensor(file, into.name, packed.error().message);
  return simd::unpack(*packed, into.value);
}

}  // namespace

Result<GruParameters> read_start_weights(const std::filesystem::path& path,
                                         std::span<const std::byte> vocabulary) {
  Result<format::ModelFile> file = format::ModelFile::open(path.string(), format::Verify::Full);
  if (!file) return file.error();
  Result<model::GruConfig> config = model::read_gru_config(*file);
  if (!config) return config.error();
  Result<std::span<const std::byte>> stored = file->blob("vocabulary");
  if (!stored) return stored.error();
  if (!std::ranges::equal(*stored, vocabulary)) {
    return Error{ErrorCode::BadArgument,
                 path.string() +
                     ": its vocabulary is not the one of --vocabulary; weights belong "
                     "to the pieces they were trained on"};
  }
  GruParameters parameters(*config);
  for (const model::TensorSpec& spec : model::tensor_specs(*config)) {
    const auto into = std::ranges::find(parameters.tensors(), spec.name, &Parameter::name);
    if (Status s = read_tensor(*file, spec.role, *into); !s) return s.error();
  }
  return parameters;
}

}  // namespace laya::train

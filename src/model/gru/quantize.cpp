#include "model/gru/quantize.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "format/metadata.h"
#include "format/model_writer.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/model_loading.h"
#include "model/gru/rotation.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using simd::WeightType;

struct TypeName {
  WeightType type;
  std::string_view name;
};
constexpr TypeName kTypes[] = {{WeightType::Int4, "int4"},
                               {WeightType::Int8, "int8"},
                               {WeightType::Fp16, "fp16"},
                               {WeightType::Fp32, "fp32"}};

bool grouped(WeightType type) { return type == WeightType::Int4 || type == WeightType::Int8; }

simd::PackedShape packed_shape(const Precision& precision, std::size_t rows, std::size_t columns) {
  if (!grouped(precision.type)) {
    return {rows, columns, precision.type, 0, simd::Minima::None};
  }
  return {rows, columns, precision.type, precision.group, precision.minima};
}

Result<AlignedBytes> pack_matrix(const simd::PackedShape& shape, std::span<const float> numbers) {
  if (auto status = simd::check_shape(shape); !status) {
    return status.error();
  }
  AlignedBytes bytes(simd::packed_size_bytes(shape));
  if (auto status = simd::pack(shape, numbers, bytes.bytes()); !status) {
    return status.error();
  }
  return bytes;
}

}  // namespace

Result<Precision> parse_precision(std::string_view text, const Precision& standard) {
  Precision precision = standard;
  const std::string_view name = text.substr(0, text.find('/'));
  const auto found = std::ranges::find(kTypes, name, &TypeName::name);
  std::string_view rest =
      name.size() < text.size() ? text.substr(name.size() + 1) : std::string_view{};
  bool valid =
      found != std::end(kTypes) && (rest.empty() || grouped(found->type)) && !text.ends_with('/');
  if (valid) {
    precision.type = found->type;
    if (!rest.empty()) {
      precision.minima = rest.ends_with('m') ? simd::Minima::PerGroup : simd::Minima::None;
      rest = rest.substr(0, rest.size() - (rest.ends_with('m') ? 1 : 0));
      valid = rest == "32" || rest == "64" || rest == "128";
      precision.group = rest == "32"   ? std::uint16_t{32}
                        : rest == "64" ? std::uint16_t{64}
                                       : std::uint16_t{128};
    }
    if (!grouped(precision.type)) {
      precision.minima = simd::Minima::None;
    }
  }
  if (!valid) {
    return Error{
        ErrorCode::BadArgument,
        "precision '" + std::string(text) +
            "' is none of: int4, int8 (each with /32, /64 or /128, and m for minima), fp16, fp32"};
  }
  return precision;
}

std::string precision_text(const Precision& precision) {
  std::string text(std::ranges::find(kTypes, precision.type, &TypeName::type)->name);
  if (grouped(precision.type)) {
    text += "/" + std::to_string(precision.group);
    text += precision.minima == simd::Minima::PerGroup ? "m" : "";
  }
  return text;
}

const Precision& QuantizeRecipe::of(std::string_view tensor) const {
  const auto exception = exceptions.find(tensor);
  return exception == exceptions.end() ? standard : exception->second;
}

Status check_recipe(const QuantizeRecipe& recipe, std::span<const std::string> matrices) {
  const auto check = [](const Precision& precision, const std::string& what) -> Status {
    if (grouped(precision.type) && precision.group != 32 && precision.group != 64 &&
        precision.group != 128) {
      return Error{ErrorCode::BadArgument, "recipe: group " + std::to_string(precision.group) +
                                               " for " + what + " is none of 32, 64, 128"};
    }
    return {};
  };
  if (auto status = check(recipe.standard, "all tensors"); !status) {
    return status;
  }
  for (const auto& [name, precision] : recipe.exceptions) {
    if (std::ranges::find(matrices, name) == matrices.end()) {
      std::string known;
      for (const std::string& matrix : matrices) {
        known += (known.empty() ? "" : ", ") + matrix;
      }
      return Error{ErrorCode::BadArgument,
                   "recipe: no matrix is called '" + name + "'; there are " + known};
    }
    if (auto status = check(precision, name); !status) {
      return status;
    }
  }
  return {};
}

Status check_recipe(const QuantizeRecipe& recipe, const GruConfig& config) {
  std::vector<std::string> matrices;
  for (const TensorSpec& spec : tensor_specs(config)) {
    if (spec.role == TensorRole::Matrix) {
      matrices.push_back(spec.name);
    }
  }
  return check_recipe(recipe, matrices);
}

Status add_matrix(format::ModelWriter& writer, const std::string& name,
                  std::span<const std::uint32_t> shape, std::span<const float> numbers,
                  const Precision& precision) {
  format::Layout layout;
  layout.rank = 2;
  layout.shape = {shape[0], shape[1], 0, 0};
  if (precision.type == WeightType::Fp32) {
    return writer.add_f32(name, shape, numbers);
  }
  if (precision.type == WeightType::Fp16) {
    layout.element = format::Element::F16;
    std::vector<std::uint16_t> halves(numbers.size());
    simd::to_fp16(simd::best_kernels(), numbers, halves);
    return writer.add_tensor(name, layout, std::as_bytes(std::span<const std::uint16_t>(halves)));
  }
  auto bytes = pack_matrix(packed_shape(precision, layout.shape[0], layout.shape[1]), numbers);
  if (!bytes) {
    return bytes.error();
  }
  layout.element = precision.type == WeightType::Int4 ? format::Element::PackedInt4
                                                      : format::Element::PackedInt8;
  layout.group = precision.group;
  layout.has_minima = precision.minima == simd::Minima::PerGroup;
  return writer.add_tensor(name, layout, std::as_const(*bytes).bytes());
}

Result<OwnedPackedWeights> quantize_weights(const GruConfig& config, const FloatWeights& weights,
                                            const QuantizeRecipe& recipe) {
  if (auto status = check_recipe(recipe, config); !status) {
    return status.error();
  }
  OwnedPackedWeights owned;
  auto gathered = gather_weights<simd::PackedMatrix>(
      config,
      [&](const std::string& name, std::uint32_t rows,
          std::uint32_t columns) -> Result<simd::PackedMatrix> {
        const simd::PackedShape shape = packed_shape(recipe.of(name), rows, columns);
        auto bytes = pack_matrix(shape, tensor_numbers(config, weights, name));
        if (!bytes) {
          return Error{bytes.error().code, name + ": " + bytes.error().message};
        }
        return simd::view_packed(shape, owned.storage.emplace_back(std::move(*bytes)).bytes());
      },
      [&](const std::string& name,
          std::span<const std::uint32_t>) -> Result<std::span<const float>> {
        const std::span<const float> numbers = tensor_numbers(config, weights, name);
        return std::span<const float>(owned.vectors.emplace_back(numbers.begin(), numbers.end()));
      });
  if (!gathered) {
    return gathered.error();
  }
  owned.weights = std::move(*gathered);
  return owned;
}

Status copy_other_entries(const format::ModelFile& file, std::span<const std::string> names,
                          format::ModelWriter& writer) {
  for (const format::Entry& entry : file.entries()) {
    if (entry.name == format::kMetadataName ||
        std::ranges::find(names, entry.name) != names.end()) {
      continue;
    }
    if (Status status = entry.kind == format::EntryKind::Tensor
                            ? writer.add_tensor(entry.name, entry.layout, file.bytes_of(entry))
                            : writer.add_blob(entry.name, file.bytes_of(entry));
        !status) {
      return status;
    }
  }
  return {};
}

Status quantize_file(const format::ModelFile& file, const std::string& path,
                     const QuantizeRecipe& recipe, std::string_view measured_json) {
  auto config = read_gru_config(file);
  if (!config) {
    return config.error();
  }
  if (auto status = check_recipe(recipe, *config); !status) {
    return status;
  }
  const std::vector<TensorSpec> specs = tensor_specs(*config);
  for (const TensorSpec& spec : specs) {
    const format::Entry* entry = file.find(spec.name);
    if (entry != nullptr && format::is_packed(entry->layout.element)) {
      return Error{ErrorCode::BadArgument, file.path() + ": tensor " + spec.name +
                                               " is quantised already; start from the fp32 file"};
    }
  }
  auto loaded = load_float_weights(file, *config);
  if (!loaded) {
    return loaded.error();
  }
  const OwnedFloatWeights weights = rotated_embedding(*config, loaded->weights);
  auto metadata = format::metadata(file);
  if (!metadata) {
    return metadata.error();
  }
  auto writer = format::ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  // First what a step reads, in its order; then the rest of the file as it is.
  nlohmann::json kinds = nlohmann::json::object();
  for (const TensorSpec& spec : specs) {
    const std::span<const float> numbers = tensor_numbers(*config, weights.weights, spec.name);
    const bool is_matrix = spec.role == TensorRole::Matrix;
    if (auto status =
            is_matrix ? add_matrix(*writer, spec.name, spec.shape, numbers, recipe.of(spec.name))
                      : writer->add_f32(spec.name, spec.shape, numbers);
        !status) {
      return status;
    }
    if (is_matrix) {
      kinds[spec.name] = precision_text(recipe.of(spec.name));
    }
  }
  std::vector<std::string> names;
  for (const TensorSpec& spec : specs) names.push_back(spec.name);
  if (auto status = copy_other_entries(file, names, *writer); !status) {
    return status;
  }
  (*metadata)["quantization"] = std::move(kinds);
  if (!measured_json.empty()) {
    auto measured = format::parse_json(measured_json);
    if (!measured) {
      return measured.error();
    }
    (*metadata)["quantization_measured"] = std::move(*measured);
  }
  if (auto status = writer->set_metadata(metadata->dump()); !status) {
    return status;
  }
  return writer->finish();
}

}  // namespace laya::model

// From fp32 weights to what ships: int8 or int4 by groups, each tensor as a recipe says. Round to
// nearest; the scale of a group is searched for the least squared error (simd::pack).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "model/gru/gru_config.h"
#include "model/gru/weights_loading.h"
#include "simd/packing.h"

namespace laya::format {
class ModelWriter;
}

namespace laya::model {

/// How one matrix is stored.
struct Precision {
  simd::WeightType type = simd::WeightType::Int8;
  std::uint16_t group = 64;  ///< 32, 64 or 128; ignored for Fp16 and Fp32
  simd::Minima minima = simd::Minima::None;

  friend bool operator==(const Precision&, const Precision&) = default;
};

/// "int4", "int8", "fp16" or "fp32", the quantised ones with an optional group and "m" for minima:
/// "int4/32m". What is not said is taken from `standard`. BadArgument says what is allowed.
Result<Precision> parse_precision(std::string_view text, const Precision& standard = {});
/// The inverse: "int4/32m", "fp16".
std::string precision_text(const Precision& precision);

struct QuantizeRecipe {
  Precision standard;
  std::map<std::string, Precision, std::less<>> exceptions;  ///< by tensor name

  const Precision& of(std::string_view tensor) const;
};

/// BadArgument when an exception names none of `matrices`, or a group is none of 32, 64, 128.
Status check_recipe(const QuantizeRecipe& recipe, std::span<const std::string> matrices);
/// The same for this shape of model.
Status check_recipe(const QuantizeRecipe& recipe, const GruConfig& config);

/// Adds a matrix [rows, columns], stored as `precision` says.
Status add_matrix(format::ModelWriter& writer, const std::string& name,
                  std::span<const std::uint32_t> shape, std::span<const float> numbers,
                  const Precision& precision);

/// Copies into `writer` what `file` holds besides its metadata and the tensors of these names.
Status copy_other_entries(const format::ModelFile& file, std::span<const std::string> names,
                          format::ModelWriter& writer);

/// Quantised copies in memory, for measuring a recipe before a file is written. `weights` are not
/// needed afterwards.
Result<OwnedPackedWeights> quantize_weights(const GruConfig& config, const FloatWeights& weights,
                                            const QuantizeRecipe& recipe);

/// Writes `path`: the embedding space rotated (rotation.h), every matrix as the recipe says;
/// vectors, vocabulary, n-gram table and anything else as they are in `file`; the metadata with
/// "quantization" added. Matrices of `file` must be f32 or f16 (BadArgument for a file that is
/// quantised already). `measured_json`, a JSON object or empty, is kept in the metadata as
/// "quantization_measured": what the command found the recipe to cost.
Status quantize_file(const format::ModelFile& file, const std::string& path,
                     const QuantizeRecipe& recipe, std::string_view measured_json = {});

}  // namespace laya::model

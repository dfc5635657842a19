// The specification of GruLocal: fp32, plain loops, read it top to bottom. Every other backend is
// tested against it.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "model/gru/gru_weights.h"
#include "model/gru/language_model.h"

namespace laya::model {

/// A row-major fp32 matrix [rows, columns] that lives elsewhere.
struct FloatMatrix {
  std::span<const float> data;
  std::size_t rows = 0;
  std::size_t columns = 0;

  std::span<const float> row(std::size_t r) const { return data.subspan(r * columns, columns); }
};

using FloatWeights = GruWeights<FloatMatrix>;

/// fp32 weights and, where they had to be converted (fp16, int8, int4), the memory that holds them.
struct OwnedFloatWeights {
  FloatWeights weights;
  std::vector<std::vector<float>> storage;  ///< moving it keeps the views valid
};

/// `config` must be valid and fit `weights`; whatever the views point to beside `storage` must
/// outlive the model.
std::unique_ptr<LanguageModel> make_reference_model(const GruConfig& config,
                                                    OwnedFloatWeights weights);

/// The numbers of the tensor `name` of tensor_specs(); empty for an unknown name.
std::span<const float> tensor_numbers(const GruConfig& config, const FloatWeights& weights,
                                      std::string_view name);

}  // namespace laya::model

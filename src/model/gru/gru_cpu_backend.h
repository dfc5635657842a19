// What ships: GruLocal over packed weights and the kernels of src/simd, chosen at run time. One
// step reads every weight once.
#pragma once

#include <memory>

#include "model/gru/language_model.h"
#include "model/gru/weights_loading.h"
#include "simd/kernels.h"

namespace laya::model {

/// `config` must be valid and fit `weights`; `kernels` is usually simd::best_kernels().
std::unique_ptr<LanguageModel> make_cpu_model(const GruConfig& config, OwnedPackedWeights weights,
                                              const simd::Kernels& kernels);

}  // namespace laya::model

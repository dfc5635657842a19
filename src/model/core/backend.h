// Which executor runs a model's weights. Whoever opens a model names one, and links its library
// (CMake: laya_model, laya_model_cpu, laya_model_mlx), so that a program holds only those it uses.
//
//   auto model = model::load_language_model(*file, model::cpu_backend());   // backends/cpu.h
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"

namespace laya::format {
class ModelFile;
}

namespace laya::model {

class Decoder;
class LanguageModel;

/// A value: copied freely. The functions build what runs over an opened file, which must outlive
/// it; callers use load_language_model() and load_decoder(), which say what they answer.
struct Backend {
  std::string_view name = {};  ///< "cpu", for reports; "" for none
  Result<std::unique_ptr<LanguageModel>> (*load_network)(const format::ModelFile& file) = nullptr;
  Result<std::unique_ptr<Decoder>> (*load_decoder)(const format::ModelFile& file) = nullptr;
};

}  // namespace laya::model

// From an opened .laya file to a running model: every tensor's presence, kind and shape is checked
// before anything is computed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/core/backend.h"
#include "model/gru/gru_config.h"
#include "model/gru/language_model.h"

namespace laya::model {

/// The file's metadata that makes it a model of ours: "architecture": kGruLocal, "config":
/// config_json(…).
inline constexpr std::string_view kGruLocal = "gru-local";
/// {"vocabulary_size":16384,"embedding_dim":256,"hidden_dim":512,"layers":2,"heads":4,"head_dim":32,"window":5,"norm_eps":1e-05}
std::string config_json(const GruConfig& config);

/// The model's shape from the file's configuration; Corrupt or Unsupported, naming the field.
Result<GruConfig> read_gru_config(const format::ModelFile& file);

/// Builds a model over `file`, which must outlive it (weights stay in the mapping). Files may hold
/// fp32, fp16, packed int8 or int4 tensors in any mixture; the reference and mlx backends unpack
/// them, the cpu backend packs fp32 ones to its own liking (int8, groups of 64). Errors:
/// BadArgument (Backend{}), Unsupported (another architecture, no MLX), Corrupt (a tensor is
/// missing, has another shape or kind, or holds a NaN), each naming the tensor and what was
/// expected.
Result<std::unique_ptr<LanguageModel>> load_language_model(const format::ModelFile& file,
                                                           const Backend& backend);

}  // namespace laya::model

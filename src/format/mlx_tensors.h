// MLX-community quantised folders: three tensors ("x.weight" in u32 words, "x.scales", "x.biases")
// and the "quantization" of config.json are one quantised matrix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

/// Whether `config_json` says that weights are quantised as MLX does. Errors: Corrupt (no JSON),
/// Unsupported (quantised as somebody else does: GPTQ, AWQ, bitsandbytes …, named).
Result<bool> is_mlx_config(std::string_view config_json, std::string_view name_for_errors);

/// Joins the triples of `tensors` (sorted by name); the others stay as they are. Layers may have
/// their own group and bits: "quantization": {"group_size": 64, "bits": 4,
/// "model.layers.0.mlp.down_proj":
/// {"group_size": 64, "bits": 8}}. Errors: Corrupt (a part is missing, the shapes are not those
/// that the config says; both named), Unsupported (bits, group or mode that are not read).
Result<std::vector<SourceTensor>> join_mlx_tensors(std::vector<SourceTensor> tensors,
                                                   std::string_view config_json,
                                                   std::string_view name_for_errors);

}  // namespace laya::format

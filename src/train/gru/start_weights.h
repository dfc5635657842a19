// Weights to start a training run from: those of a model that was trained before.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"
#include "train/gru/gru_parameters.h"

namespace laya::train {

/// The weights of `file`, a GruLocal `.laya` of any precision (packed ones are unpacked: int8 costs
/// about 0.0005 bits per character once, which training takes back), moments zero. Its vocabulary
/// must be `vocabulary` (text::Vocabulary::serialize()), byte for byte. Errors: as
/// format::ModelFile::open; Corrupt names the tensor; BadArgument where the vocabularies differ.
Result<GruParameters> read_start_weights(const std::filesystem::path& file,
                                         std::span<const std::byte> vocabulary);

}  // namespace laya::train

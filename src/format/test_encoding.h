// For tests only: fp32 values into the storage of foreign checkpoints. Plain rounding, no search.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "format/source_tensor.h"

namespace laya::format {

std::uint16_t half_from_float(float value);    ///< round to nearest even
std::uint16_t bfloat_from_float(float value);  ///< round to nearest even; no NaN

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// `values` as `type`: F32, F16, BF16 or a block format of GGUF, whole blocks. Ends the process on
/// anything else: a test that asks for it is wrong.
std::string encode(SourceType type, std::span<const float> values);

/// MLX: u32 words, scales and biases in F16. `values` is a whole number of groups.
struct MlxParts {
  std::string words, scales, biases;
};
MlxParts encode_mlx(std::span<const float> values, std::uint32_t bits, std::uint32_t group);

}  // namespace laya::format

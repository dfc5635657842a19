// The block formats of GGUF, taken apart: codes, scales, minima. Layouts from the GGUF
// specification and ggml's documented structures (facts; no code of theirs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/source_tensor.h"

namespace laya::format {

inline constexpr std::uint32_t kMaxBlock = 256;          ///< values of the largest block
inline constexpr std::uint32_t kMaxGroupsPerBlock = 16;  ///< Q6_K

/// What is in one block.
struct Block {
  std::uint8_t codes[kMaxBlock];
  float scales[kMaxGroupsPerBlock];
  float minima[kMaxGroupsPerBlock];  ///< where the scheme has them
};

struct BlockFormat {
  SourceType type;
  std::uint32_t values;  ///< values in a block
  std::uint32_t bytes;   ///< bytes of a block
  GroupScheme scheme;
  /// `bytes` bytes in; fills values codes and values / group scales (and minima).
  void (*take_apart)(const std::uint8_t* bytes, Block& block);
};

/// Null for types that are not made of blocks.
const BlockFormat* block_format(SourceType type);

/// Bytes of one value of a plain type (F32 … Bool); 0 for the others.
std::uint32_t value_bytes(SourceType type);

/// Bytes that a tensor of this type and shape takes: whole blocks, rows one after the other. `bits`
/// for MlxAffine and Int8Groups: their codes alone. Errors Corrupt, without a name: a zero
/// dimension, more than kMaxSourceElements, a last dimension that is no multiple of the block.
Result<std::uint64_t> storage_bytes(SourceType type, std::span<const std::uint64_t> shape,
                                    std::uint32_t bits = 0);

}  // namespace laya::format

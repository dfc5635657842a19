#include "format/quantised_blocks.h"

#include <cstring>
#include <string>

#include "format/float_bits.h"

namespace laya::format {
namespace {

float half_at(const std::uint8_t* bytes) {
  std::uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return float_from_half(bits);
}

/// 32 codes of 4 bits: the low nibbles are the first half, the high ones the second.
void nibbles(const std::uint8_t* packed, std::uint8_t* codes) {
  for (unsigned i = 0; i < 16; ++i) {
    codes[i] = packed[i] & 0xFu;
    codes[i + 16] = packed[i] >> 4;
  }
}

/// The fifth bits of 32 codes: bit i of a little-endian u32 belongs to code i.
void fifth_bits(const std::uint8_t* bits, std::uint8_t* codes) {
  for (unsigned i = 0; i < 32; ++i) {
    codes[i] |= static_cast<std::uint8_t>(((bits[i / 8] >> (i % 8)) & 1u) << 4);
  }
}

// d fp16, 16 bytes of nibbles
void take_q4_0(const std::uint8_t* bytes, Block& block) {
  block.scales[0] = half_at(bytes);
  nibbles(bytes + 2, block.codes);
}

// d fp16, m fp16, 16 bytes of nibbles
void take_q4_1(const std::uint8_t* bytes, Block& block) {
  block.scales[0] = half_at(bytes);
  block.minima[0] = half_at(bytes + 2);
  nibbles(bytes + 4, block.codes);
}

// d fp16, fifth bits u32, 16 bytes of nibbles
void take_q5_0(const std::uint8_t* bytes, Block& block) {
  block.scales[0] = half_at(bytes);
  nibbles(bytes + 6, block.codes);
  fifth_bits(bytes + 2, block.codes);
}

// d fp16, m fp16, fifth bits u32, 16 bytes of nibbles
void take_q5_1(const std::uint8_t* bytes, Block& block) {
  block.scales[0] = half_at(bytes);
  block.minima[0] = half_at(bytes + 2);
  nibbles(bytes + 8, block.codes);
  fifth_bits(bytes + 4, block.codes);
}

// d fp16, 32 signed bytes
void take_q8_0(const std::uint8_t* bytes, Block& block) {
  block.scales[0] = half_at(bytes);
  for (unsigned i = 0; i < 32; ++i) {
    block.codes[i] = bytes[2 + i] ^ 0x80u;  // q + 128
  }
}

/// d fp16, dmin fp16, 12 bytes of 6-bit scales and minima: groups 0–3 have theirs in the low six
/// bits of bytes 0–3 and 4–7; groups 4–7 have four bits each in bytes 8–11 (scale low, minimum
/// high) and their upper two in the top of bytes 0–3 and 4–7.
void scales_and_minima(const std::uint8_t* bytes, Block& block) {
  const float d = half_at(bytes);
  const float dmin = half_at(bytes + 2);
  const std::uint8_t* packed = bytes + 4;
  for (unsigned g = 0; g < 4; ++g) {
    const unsigned low_scale = packed[g] & 63u;
    const unsigned low_minimum = packed[g + 4] & 63u;
    const unsigned high_scale = (packed[g + 8] & 0xFu) | ((packed[g] >> 6) << 4);
    const unsigned high_minimum = (packed[g + 8] >> 4) | ((packed[g + 4] >> 6) << 4);
    block.scales[g] = d * static_cast<float>(low_scale);
    block.scales[g + 4] = d * static_cast<float>(high_scale);
    block.minima[g] = -(dmin * static_cast<float>(low_minimum));
    block.minima[g + 4] = -(dmin * static_cast<float>(high_minimum));
  }
}

/// 256 codes: of each 32 bytes the low nibbles are one group of 32, the high ones the next.
void nibble_pairs_of_groups(const std::uint8_t* packed, std::uint8_t* codes) {
  for (unsigned pair = 0; pair < 4; ++pair) {
    for (unsigned i = 0; i < 32; ++i) {
      codes[pair * 64 + i] = packed[pair * 32 + i] & 0xFu;
      codes[pair * 64 + 32 + i] = packed[pair * 32 + i] >> 4;
    }
  }
}

// 16 bytes of scales and minima, 128 bytes of nibbles
void take_q4_k(const std::uint8_t* bytes, Block& block) {
  scales_and_minima(bytes, block);
  nibble_pairs_of_groups(bytes + 16, block.codes);
}

// the same with 32 bytes of fifth bits between: bit g of byte i belongs to code i of group g
void take_q5_k(const std::uint8_t* bytes, Block& block) {
  scales_and_minima(bytes, block);
  nibble_pairs_of_groups(bytes + 48, block.codes);
  for (unsigned g = 0; g < 8; ++g) {
    for (unsigned i = 0; i < 32; ++i) {
      block.codes[g * 32 + i] |= static_cast<std::uint8_t>(((bytes[16 + i] >> g) & 1u) << 4);
    }
  }
}

// 128 bytes of low nibbles, 64 of upper bit pairs, 16 signed scales, d fp16. Each half of 128
// values takes 64 and 32 bytes: values 32k … 32k + 31 have nibbles in bytes 32(k mod 2) …, low for
// k < 2 and high for k ≥ 2, and bit pair k of the 32 upper bytes.
void take_q6_k(const std::uint8_t* bytes, Block& block) {
  const float d = half_at(bytes + 208);
  for (unsigned g = 0; g < 16; ++g) {
    block.scales[g] = d * static_cast<float>(static_cast<std::int8_t>(bytes[192 + g]));
  }
  for (unsigned half = 0; half < 2; ++half) {
    const std::uint8_t* low = bytes + half * 64;
    const std::uint8_t* high = bytes + 128 + half * 32;
    for (unsigned k = 0; k < 4; ++k) {
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned nibble = (low[(k % 2) * 32 + i] >> (k < 2 ? 0 : 4)) & 0xFu;
        const unsigned upper = (high[i] >> (2 * k)) & 3u;
        block.codes[half * 128 + k * 32 + i] = static_cast<std::uint8_t>(nibble | (upper << 4));
      }
    }
  }
}

constexpr BlockFormat kFormats[] = {
    {SourceType::Q4_0, 32, 18, {4, 32, 8, false}, take_q4_0},
    {SourceType::Q4_1, 32, 20, {4, 32, 0, true}, take_q4_1},
    {SourceType::Q5_0, 32, 22, {5, 32, 16, false}, take_q5_0},
    {SourceType::Q5_1, 32, 24, {5, 32, 0, true}, take_q5_1},
    {SourceType::Q8_0, 32, 34, {8, 32, 128, false}, take_q8_0},
    {SourceType::Q4_K, 256, 144, {4, 32, 0, true}, take_q4_k},
    {SourceType::Q5_K, 256, 176, {5, 32, 0, true}, take_q5_k},
    {SourceType::Q6_K, 256, 210, {6, 16, 32, false}, take_q6_k},
};

}  // namespace

const BlockFormat* block_format(SourceType type) {
  for (const BlockFormat& format : kFormats) {
    if (format.type == type) {
      return &format;
    }
  }
  return nullptr;
}

std::uint32_t value_bytes(SourceType type) {
  switch (type) {
    case SourceType::I8:
    case SourceType::U8:
    case SourceType::Bool:
      return 1;
    case SourceType::F16:
    case SourceType::BF16:
    case SourceType::I16:
    case SourceType::U16:
      return 2;
    case SourceType::F32:
    case SourceType::I32:
    case SourceType::U32:
      return 4;
    case SourceType::F64:
    case SourceType::I64:
    case SourceType::U64:
      return 8;
    default:
      return 0;
  }
}

Result<std::uint64_t> storage_bytes(SourceType type, std::span<const std::uint64_t> shape,
                                    std::uint32_t bits) {
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : shape) {
    if (dimension == 0) {
      return Error{ErrorCode::Corrupt, "shape " + shape_text(shape) + " has a dimension of 0"};
    }
    if (dimension > kMaxSourceElements / elements) {
      return Error{ErrorCode::Corrupt,
                   "shape " + shape_text(shape) + " is more than 2^48 elements"};
    }
    elements *= dimension;
  }
  if (const std::uint32_t each = value_bytes(type); each != 0) {
    return elements * each;
  }
  const std::uint64_t columns = shape.empty() ? 1 : shape.back();
  if (const BlockFormat* format = block_format(type)) {
    if (columns % format->values != 0) {
      return Error{ErrorCode::Corrupt, "rows of " + std::to_string(columns) + " values, but " +
                                           std::string(source_type_name(type)) +
                                           " needs a multiple of " +
                                           std::to_string(format->values)};
    }
    return elements / format->values * format->bytes;
  }
  if (bits == 0 || columns * bits % 8 != 0) {  // columns ≤ 2^48, bits ≤ 8: no wrap
    return Error{ErrorCode::Corrupt, "rows of " + std::to_string(columns) + " values of " +
                                         std::to_string(bits) + " bits are not whole bytes"};
  }
  return elements / columns * (columns * bits / 8);
}

}  // namespace laya::format

// fp16 and bf16 as the bits that files hold. (simd has the same for kernels; format may not include
// it.)
#pragma once

#include <bit>
#include <cstdint>

namespace laya::format {

/// Exact, subnormals included; NaNs keep their payload.
/// Without branches, so that loops over it vectorise.
constexpr float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  // The fields in fp32's places, with fp16's bias: 2^112 makes up for it (127 − 15), exactly.
  const std::uint32_t fields = static_cast<std::uint32_t>(half & 0x7FFFu) << 13;
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(fields) * 0x1p112f);
  constexpr std::uint32_t kInfinity = 0x7C00u << 13;
  return std::bit_cast<float>(sign | (fields >= kInfinity ? fields | 0x7F800000u : finite));
}

/// Exact: bf16 is the upper half of fp32.
constexpr float float_from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace laya::format

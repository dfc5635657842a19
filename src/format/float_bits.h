// fp16 and bf16 as the bits that files hold. (simd has the same for kernels; format may not include
// it.)
#pragma once

#include <bit>
#include <cstdint>

namespace laya::format {

/// Exact, subnormals included; NaNs keep their payload.
constexpr float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1Fu;
  const std::uint32_t fraction = half & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: fraction · 2^-24, exact in fp32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;  // 112 = 127 − 15
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

/// Exact: bf16 is the upper half of fp32.
constexpr float float_from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace laya::format

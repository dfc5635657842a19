#include "simd/float16.h"

#include <bit>
#include <cmath>

namespace laya::simd {

std::uint16_t fp16_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00u | ((magnitude >> 13) &
                      0x1FFu);  // a quiet NaN with what fits of its payload, as hardware does
  } else if (magnitude >= 0x477FF000u) {
    half = 0x7C00u;  // 65520 and above round to infinity
  } else if (magnitude < 0x38800000u) {
    // Below 2^-14 the result is a multiple of 2^-24: let the addition of 0.5 (whose ulp is 2^-24)
    // do the rounding.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    half = (magnitude - 0x38000000u + 0xFFFu + odd) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

float float_from_fp16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t fraction = half & 0x3FFu;
  if (exponent == 31) {
    const std::uint32_t quiet = fraction != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7F800000u | quiet | (fraction << 13));
  }
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

}  // namespace laya::simd

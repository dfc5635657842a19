// Half precision (IEEE 754 binary16) without hardware help, for packing and the scalar reference.
#pragma once

#include <cstdint>

namespace laya::simd {

/// Round to nearest even; overflow becomes infinity, NaN a quiet NaN.
std::uint16_t fp16_from_float(float value);

/// Exact, subnormals included.
float float_from_fp16(std::uint16_t half);

}  // namespace laya::simd

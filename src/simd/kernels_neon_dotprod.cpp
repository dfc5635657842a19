// 64-bit ARM with the dot-product extension (ARMv8.2 SDOT: every phone since about 2018, every Apple silicon Mac): signed bytes
// times signed bytes, 4 rows a register. Int8 codes become signed by flipping their top bit; Int4 codes are small enough.
// Compiled with -march=armv8.2-a+dotprod; reached through the table only, on CPUs that have it.
#include <arm_neon.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

#include "simd/impl/vec_neon.inc"

constexpr int kChunk = 4;

LAYA_INLINE int8x16_t quad_of(const std::int8_t* x) {
  std::int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

template <WeightType kType, int kColumns>
LAYA_INLINE void dot_group(const std::uint8_t* codes, const std::int8_t* x, std::size_t x_stride, std::size_t group,
                           const std::int32_t* sums, bool has_minima, IVec* result) {
  std::int32_t seed_factor = 0;
  if constexpr (kType == WeightType::Int8) {
    seed_factor = has_minima ? kCentreInt8 : 0;  // the products below are of code - centre
  } else {
    seed_factor = has_minima ? 0 : -kCentreInt4;
  }
  for (int c = 0; c < kColumns; ++c) result[c] = splat_int(seed_factor * sums[c]);
  if constexpr (kType == WeightType::Int8) {
    for (std::size_t quad = 0; quad < group / kQuad; ++quad) {
      int8x16_t w[4];
      for (int i = 0; i < 4; ++i) {
        w[i] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(codes + 16 * i), vdupq_n_u8(0x80)));
      }
      for (int c = 0; c < kColumns; ++c) {
        const int8x16_t xc = quad_of(x + c * 4);
        for (int i = 0; i < 4; ++i) result[c].v[i] = vdotq_s32(result[c].v[i], w[i], xc);
      }
      codes += 64;
      x += x_stride;
    }
  } else {
    for (std::size_t pair = 0; pair < group / (2 * kQuad); ++pair) {
      int8x16_t low[4];
      int8x16_t high[4];
      for (int i = 0; i < 4; ++i) {
        const uint8x16_t both = vld1q_u8(codes + 16 * i);
        low[i] = vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15)));
        high[i] = vreinterpretq_s8_u8(vshrq_n_u8(both, 4));
      }
      for (int c = 0; c < kColumns; ++c) {
        const int8x16_t x0 = quad_of(x + c * 4);
        const int8x16_t x1 = quad_of(x + x_stride + c * 4);
        for (int i = 0; i < 4; ++i) {
          result[c].v[i] = vdotq_s32(vdotq_s32(result[c].v[i], low[i], x0), high[i], x1);
        }
      }
      codes += 64;
      x += 2 * x_stride;
    }
  }
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/table.inc"

std::uint64_t stream_read_kernel(const std::byte* data, std::size_t size_bytes) {
  const std::uint8_t* p = reinterpret_cast<const std::uint8_t*>(data);
  uint8x16_t total[8];
  for (uint8x16_t& t : total) t = vdupq_n_u8(0);
  std::size_t i = 0;
  for (; size_bytes - i >= 128; i += 128) {
    for (int j = 0; j < 8; ++j) total[j] = veorq_u8(total[j], vld1q_u8(p + i + 16 * j));
  }
  for (int j = 1; j < 8; ++j) total[0] = veorq_u8(total[0], total[j]);
  const uint64x2_t words = vreinterpretq_u64_u8(total[0]);
  std::uint64_t checksum = vgetq_lane_u64(words, 0) ^ vgetq_lane_u64(words, 1);
  while (i < size_bytes) {
    std::uint64_t word = 0;
    const std::size_t left = size_bytes - i < sizeof word ? size_bytes - i : sizeof word;
    __builtin_memcpy(&word, p + i, left);
    checksum ^= word;
    i += left;
  }
  return checksum;
}

}  // namespace

LAYA_TABLE(kNeonDotprodKernels, "neon-dotprod");

}  // namespace laya::simd

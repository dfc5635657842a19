// 64-bit ARM with the dot-product extension (ARMv8.2 SDOT: every phone since about 2018, every
// Apple silicon Mac): signed bytes times signed bytes, 4 rows a register. Int8 codes become signed
// by flipping their top bit; Int4 codes are small enough. Compiled with -march=armv8.2-a+dotprod;
// reached through the table only, on CPUs that have it.
#include <arm_neon.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

// clang-format off
#include "simd/impl/format.inc"
#include "simd/impl/vec_neon.inc"
#include "simd/impl/blocks.inc"
// clang-format on

constexpr int kChunk = 4;
constexpr int kSideBySide = 2;
constexpr std::size_t kWideFrom = kMaxColumns + 1;
constexpr std::size_t kRowCodesFrom = kMaxColumns + 1;
constexpr int kKvHeads = 1;

LAYA_INLINE int8x16_t quad_of(const std::int8_t* x) {
  std::int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

template <typename Format, int kColumns, int kBlocks>
LAYA_INLINE void dot_group(const std::uint8_t* codes, std::size_t block_bytes, const std::int8_t* x,
                           std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  constexpr bool kInt8 = Format::kInt8;
  // In Int8 the products below are of code - centre, in Int4 of the code itself.
  constexpr std::int32_t kSeedFactor =
      kInt8 ? (Format::kHasMinima ? kCentreInt8 : 0) : (Format::kHasMinima ? 0 : -kCentreInt4);
  for (int i = 0; i < kBlocks * kColumns; ++i)
    result[i] = splat_int(kSeedFactor * sums[i % kColumns]);
  for (std::size_t quad = 0; quad < Format::kGroup / kQuad; quad += 2) {
    for (int b = 0; b < kBlocks; ++b) {
      const std::uint8_t* at = codes + static_cast<std::size_t>(b) * block_bytes;
      int8x16_t w0[4];
      int8x16_t w1[4];
      for (int i = 0; i < 4; ++i) {
        const uint8x16_t bytes = vld1q_u8(at + 16 * i);
        if constexpr (kInt8) {
          w0[i] = vreinterpretq_s8_u8(veorq_u8(bytes, vdupq_n_u8(0x80)));
          w1[i] = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(at + 64 + 16 * i), vdupq_n_u8(0x80)));
        } else {
          w0[i] = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
          w1[i] = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
        }
      }
      for (int c = 0; c < kColumns; ++c) {
        const int8x16_t x0 = quad_of(x + c * 4);
        const int8x16_t x1 = quad_of(x + x_stride + c * 4);
        IVec& sum = result[b * kColumns + c];
        for (int i = 0; i < 4; ++i) sum.v[i] = vdotq_s32(vdotq_s32(sum.v[i], w0[i], x0), w1[i], x1);
      }
    }
    codes += kInt8 ? 128 : 64;
    x += 2 * x_stride;
  }
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
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

// AVX2 with AVX-VNNI (VEX-encoded vpdpbusd): unsigned codes times signed activations, 8 rows a
// register. Compiled with -mavx2 -mfma -mf16c -mavxvnni; reached through the table only, on CPUs
// that have them.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

// clang-format off
#include "simd/impl/format.inc"
#include "simd/impl/vec_avx2.inc"
#include "simd/impl/blocks.inc"
// clang-format on

constexpr int kChunk = 4;
constexpr int kSideBySide = 1;
constexpr std::size_t kWideFrom = kMaxColumns + 1;
constexpr std::size_t kRowCodesFrom = kMaxColumns + 1;
constexpr int kKvHeads = 1;

// With few results the odd quads have sums of their own: twice the chains hide the latency of
// vpdpbusd, and Int4's high nibbles can stay where they are and count 16-fold (240 * 127 * 64 fits
// easily), which is taken back once a group. Many results have chains enough, and 16 registers hold
// no second set.
template <typename Format, int kColumns, int kBlocks>
LAYA_INLINE void dot_group(const std::uint8_t* codes, std::size_t block_bytes, const std::int8_t* x,
                           std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  constexpr bool kInt8 = Format::kInt8;
  constexpr int kResults = kBlocks * kColumns;
  constexpr bool kTwoSets = kResults <= 2;
  constexpr std::int32_t kSeedFactor = Format::kHasMinima ? 0 : -Format::kCentre;
  IVec second[kTwoSets ? kResults : 1];
  for (int i = 0; i < kResults; ++i) {
    result[i] = splat_int(kSeedFactor * sums[i % kColumns]);
    if constexpr (kTwoSets) second[i] = splat_int(0);
  }
  const __m256i low = _mm256_set1_epi8(15);
#pragma GCC unroll 4
  for (std::size_t quad = 0; quad < Format::kGroup / kQuad; quad += 2) {
    for (int b = 0; b < kBlocks; ++b) {
      const std::uint8_t* at = codes + static_cast<std::size_t>(b) * block_bytes;
      __m256i w[4];  // quad: rows 0-7, 8-15; quad + 1: the same
      if constexpr (kInt8) {
        for (int i = 0; i < 4; ++i) w[i] = load_bytes(at + 32 * i);
      } else {
        for (int i = 0; i < 2; ++i) {
          const __m256i both = load_bytes(at + 32 * i);
          w[i] = _mm256_and_si256(both, low);
          w[2 + i] = kTwoSets ? _mm256_andnot_si256(low, both)
                              : _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
        }
      }
      for (int c = 0; c < kColumns; ++c) {
        const __m256i x0 = quad_of(x + c * 4);
        const __m256i x1 = quad_of(x + x_stride + c * 4);
        IVec& even = result[b * kColumns + c];
        IVec& odd = kTwoSets ? second[b * kColumns + c] : even;
        even.a = _mm256_dpbusd_avx_epi32(even.a, w[0], x0);
        even.b = _mm256_dpbusd_avx_epi32(even.b, w[1], x0);
        odd.a = _mm256_dpbusd_avx_epi32(odd.a, w[2], x1);
        odd.b = _mm256_dpbusd_avx_epi32(odd.b, w[3], x1);
      }
    }
    codes += kInt8 ? 128 : 64;
    x += 2 * x_stride;
  }
  if constexpr (kTwoSets) {
    for (int i = 0; i < kResults; ++i) {
      if constexpr (!kInt8) {
        second[i] = {_mm256_srai_epi32(second[i].a, 4), _mm256_srai_epi32(second[i].b, 4)};
      }
      result[i] = add_int(result[i], second[i]);
    }
  }
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/table.inc"

}  // namespace

LAYA_TABLE(kAvx2VnniKernels, "avx2-vnni");

}  // namespace laya::simd

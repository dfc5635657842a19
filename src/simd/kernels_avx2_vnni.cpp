// AVX2 with AVX-VNNI (VEX-encoded vpdpbusd): unsigned codes times signed activations, 8 rows a
// register. Compiled with -mavx2 -mfma -mf16c -mavxvnni; reached through the table only, on CPUs
// that have them.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

#include "simd/impl/format.inc"
#include "simd/impl/vec_avx2.inc"

constexpr int kChunk = 4;
constexpr int kSideBySide = 2;

template <typename Format, int kColumns, int kBlocks>
LAYA_INLINE void dot_group(const std::uint8_t* codes, std::size_t block_bytes, const std::int8_t* x,
                           std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  constexpr std::int32_t kSeedFactor = Format::kHasMinima ? 0 : -Format::kCentre;
  for (int i = 0; i < kBlocks * kColumns; ++i)
    result[i] = splat_int(kSeedFactor * sums[i % kColumns]);
  const __m256i low = _mm256_set1_epi8(15);
  for (std::size_t quad = 0; quad < Format::kGroup / kQuad; quad += 2) {
    for (int b = 0; b < kBlocks; ++b) {
      const std::uint8_t* at = codes + static_cast<std::size_t>(b) * block_bytes;
      __m256i w[4];  // quad: rows 0-7, 8-15; quad + 1: the same
      if constexpr (Format::kInt8) {
        for (int i = 0; i < 4; ++i) w[i] = load_bytes(at + 32 * i);
      } else {
        for (int i = 0; i < 2; ++i) {
          const __m256i both = load_bytes(at + 32 * i);
          w[i] = _mm256_and_si256(both, low);
          w[2 + i] = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
        }
      }
      for (int c = 0; c < kColumns; ++c) {
        const __m256i x0 = quad_of(x + c * 4);
        const __m256i x1 = quad_of(x + x_stride + c * 4);
        IVec& sum = result[b * kColumns + c];
        sum.a = _mm256_dpbusd_avx_epi32(sum.a, w[0], x0);
        sum.b = _mm256_dpbusd_avx_epi32(sum.b, w[1], x0);
        sum.a = _mm256_dpbusd_avx_epi32(sum.a, w[2], x1);
        sum.b = _mm256_dpbusd_avx_epi32(sum.b, w[3], x1);
      }
    }
    codes += Format::kInt8 ? 128 : 64;
    x += 2 * x_stride;
  }
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/table.inc"

}  // namespace

LAYA_TABLE(kAvx2VnniKernels, "avx2-vnni");

}  // namespace laya::simd

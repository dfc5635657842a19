// AVX2 with AVX-VNNI (VEX-encoded vpdpbusd): unsigned codes times signed activations, 8 rows a register.
// Compiled with -mavx2 -mfma -mf16c -mavxvnni; reached through the table only, on CPUs that have them.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

#include "simd/impl/vec_avx2.inc"

constexpr int kChunk = 4;

template <WeightType kType, int kColumns>
LAYA_INLINE void dot_group(const std::uint8_t* codes, const std::int8_t* x, std::size_t x_stride, std::size_t group,
                           const std::int32_t* sums, bool has_minima, IVec* result) {
  constexpr int kCentre = kType == WeightType::Int8 ? kCentreInt8 : kCentreInt4;
  const std::int32_t seed_factor = has_minima ? 0 : -kCentre;
  for (int c = 0; c < kColumns; ++c) result[c] = splat_int(seed_factor * sums[c]);
  for (std::size_t quad = 0; quad < group / kQuad; quad += 2) {
    __m256i w[4];  // quad: rows 0-7, 8-15; quad + 1: the same
    if constexpr (kType == WeightType::Int8) {
      for (int i = 0; i < 4; ++i) w[i] = load_bytes(codes + 32 * i);
      codes += 128;
    } else {
      const __m256i low = _mm256_set1_epi8(15);
      for (int i = 0; i < 2; ++i) {
        const __m256i both = load_bytes(codes + 32 * i);
        w[i] = _mm256_and_si256(both, low);
        w[2 + i] = _mm256_and_si256(_mm256_srli_epi16(both, 4), low);
      }
      codes += 64;
    }
    for (int c = 0; c < kColumns; ++c) {
      const __m256i x0 = quad_of(x + c * 4);
      const __m256i x1 = quad_of(x + x_stride + c * 4);
      result[c].a = _mm256_dpbusd_avx_epi32(result[c].a, w[0], x0);
      result[c].b = _mm256_dpbusd_avx_epi32(result[c].b, w[1], x0);
      result[c].a = _mm256_dpbusd_avx_epi32(result[c].a, w[2], x1);
      result[c].b = _mm256_dpbusd_avx_epi32(result[c].b, w[3], x1);
    }
    x += 2 * x_stride;
  }
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/table.inc"

}  // namespace

LAYA_TABLE(kAvx2VnniKernels, "avx2-vnni");

}  // namespace laya::simd

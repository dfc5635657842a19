// AVX-512 with VNNI: 16 rows in one register, vpdpbusd multiplies unsigned codes with signed activations.
// Compiled with -mavx512*; reached through the table only, on CPUs that have it.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

#include "simd/impl/vec_avx512.inc"

constexpr int kChunk = 8;

LAYA_INLINE __m512i quad_of(const std::int8_t* x) {
  std::int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

template <WeightType kType, int kColumns>
LAYA_INLINE void dot_group(const std::uint8_t* codes, const std::int8_t* x, std::size_t x_stride, std::size_t group,
                           const std::int32_t* sums, bool has_minima, IVec* result) {
  constexpr int kCentre = kType == WeightType::Int8 ? kCentreInt8 : kCentreInt4;
  const std::int32_t seed_factor = has_minima ? 0 : -kCentre;
  __m512i even[kColumns], odd[kColumns];  // two chains: vpdpbusd takes 4 cycles
  for (int c = 0; c < kColumns; ++c) {
    even[c] = _mm512_set1_epi32(seed_factor * sums[c]);
    odd[c] = _mm512_setzero_si512();
  }
  for (std::size_t part = 0; part < group / 32; ++part) {
    if constexpr (kType == WeightType::Int8) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const __m512i w0 = _mm512_loadu_si512(codes);
        const __m512i w1 = _mm512_loadu_si512(codes + 64);
        for (int c = 0; c < kColumns; ++c) {
          even[c] = _mm512_dpbusd_epi32(even[c], w0, quad_of(x + c * 4));
          odd[c] = _mm512_dpbusd_epi32(odd[c], w1, quad_of(x + x_stride + c * 4));
        }
        codes += 128;
        x += 2 * x_stride;
      }
    } else {
      const __m512i low = _mm512_set1_epi8(15);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const __m512i both = _mm512_loadu_si512(codes);
        const __m512i w0 = _mm512_and_si512(both, low);
        const __m512i w1 = _mm512_and_si512(_mm512_srli_epi16(both, 4), low);
        for (int c = 0; c < kColumns; ++c) {
          even[c] = _mm512_dpbusd_epi32(even[c], w0, quad_of(x + c * 4));
          odd[c] = _mm512_dpbusd_epi32(odd[c], w1, quad_of(x + x_stride + c * 4));
        }
        codes += 64;
        x += 2 * x_stride;
      }
    }
  }
  for (int c = 0; c < kColumns; ++c) result[c].v = _mm512_add_epi32(even[c], odd[c]);
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/table.inc"

std::uint64_t stream_read_kernel(const std::byte* data, std::size_t size_bytes) {
  __m512i total[8];
  for (__m512i& t : total) t = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; size_bytes - i >= 512; i += 512) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) total[j] = _mm512_xor_si512(total[j], _mm512_loadu_si512(data + i + j * 64));
  }
  for (; size_bytes - i >= 64; i += 64) total[0] = _mm512_xor_si512(total[0], _mm512_loadu_si512(data + i));
  if (i < size_bytes) {
    const __mmask64 left = (1ull << (size_bytes - i)) - 1;
    total[1] = _mm512_xor_si512(total[1], _mm512_maskz_loadu_epi8(left, data + i));
  }
  for (int j = 1; j < 8; ++j) total[0] = _mm512_xor_si512(total[0], total[j]);
  std::uint64_t words[8];
  _mm512_storeu_si512(words, total[0]);
  std::uint64_t checksum = 0;
  for (const std::uint64_t word : words) checksum ^= word;
  return checksum;
}

}  // namespace

LAYA_TABLE(kAvx512VnniKernels, "avx512-vnni");

}  // namespace laya::simd

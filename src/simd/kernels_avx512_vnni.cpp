// AVX-512 with VNNI: 16 rows in one register, vpdpbusd multiplies unsigned codes with signed
// activations. Compiled with -mavx512*; reached through the table only, on CPUs that have it.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

// clang-format off
#include "simd/impl/format.inc"
#include "simd/impl/vec_avx512.inc"
#include "simd/impl/blocks.inc"
#include "simd/impl/sums_avx512.inc"
// clang-format on

constexpr int kChunk = 8;
constexpr int kSideBySide = 1;
constexpr std::size_t kWideFrom = 5;
constexpr std::size_t kRowCodesFrom = kMaxColumns + 1;

LAYA_INLINE __m512i quad_of(const std::int8_t* x) {
  std::int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// Two chains per result, the even and the odd quads: vpdpbusd takes 4 cycles. In Int4 the odd quads
// are the high nibbles; they stay where they are and count 16-fold (240 * 127 * 64 fits easily),
// which is taken back once a group.
template <typename Format, int kColumns, int kBlocks>
LAYA_INLINE void dot_group(const std::uint8_t* codes, std::size_t block_bytes, const std::int8_t* x,
                           std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  constexpr bool kInt8 = Format::kInt8;
  constexpr int kCentreShift = kInt8 ? 7 : 3;  // centre = 128 or 8
  static_assert(kCentreInt8 == 1 << 7 && kCentreInt4 == 1 << 3);
  __m512i even[kBlocks * kColumns], odd[kBlocks * kColumns];
  for (int c = 0; c < kColumns; ++c) {
    const __m512i centred = _mm512_slli_epi32(_mm512_set1_epi32(sums[c]), kCentreShift);
    const __m512i seed = Format::kHasMinima ? _mm512_setzero_si512()
                                            : _mm512_sub_epi32(_mm512_setzero_si512(), centred);
    for (int b = 0; b < kBlocks; ++b) {
      even[b * kColumns + c] = seed;
      odd[b * kColumns + c] = _mm512_setzero_si512();
    }
  }
  const __m512i low = _mm512_set1_epi8(15);
#pragma GCC unroll 8
  for (std::size_t pair = 0; pair < Format::kGroup / (2 * kQuad); ++pair) {
    __m512i w0[kBlocks], w1[kBlocks];
    for (int b = 0; b < kBlocks; ++b) {
      const std::uint8_t* at = codes + static_cast<std::size_t>(b) * block_bytes;
      if constexpr (kInt8) {
        w0[b] = _mm512_loadu_si512(at);
        w1[b] = _mm512_loadu_si512(at + 64);
      } else {
        const __m512i both = load_once(at);
        w0[b] = _mm512_and_si512(both, low);
        w1[b] = _mm512_andnot_si512(low, both);
      }
    }
    for (int c = 0; c < kColumns; ++c) {
      const __m512i x0 = quad_of(x + c * 4);
      const __m512i x1 = quad_of(x + x_stride + c * 4);
      for (int b = 0; b < kBlocks; ++b) {
        even[b * kColumns + c] = _mm512_dpbusd_epi32(even[b * kColumns + c], w0[b], x0);
        odd[b * kColumns + c] = _mm512_dpbusd_epi32(odd[b * kColumns + c], w1[b], x1);
      }
    }
    codes += kInt8 ? 128 : 64;
    x += 2 * x_stride;
  }
  for (int i = 0; i < kBlocks * kColumns; ++i) {
    result[i].v = _mm512_add_epi32(even[i], kInt8 ? odd[i] : _mm512_srai_epi32(odd[i], 4));
  }
}

// Each needs those before it.
// clang-format off
#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/held_avx512.inc"
#include "simd/impl/table.inc"
// clang-format on

}  // namespace

LAYA_TABLE(kAvx512VnniKernels, "avx512-vnni");

}  // namespace laya::simd

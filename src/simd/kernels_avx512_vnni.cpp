// AVX-512 with VNNI: 16 rows in one register, vpdpbusd multiplies unsigned codes with signed
// activations. Compiled with -mavx512*; reached through the table only, on CPUs that have it.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

#include "simd/impl/format.inc"
#include "simd/impl/vec_avx512.inc"

constexpr int kChunk = 8;
constexpr int kSideBySide = 1;
constexpr std::size_t kHoldFrom = 5;
constexpr int kKvHeads = 4;

LAYA_INLINE __m512i quad_of(const std::int8_t* x) {
  std::int32_t four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// One load into a register: as an operand of two instructions the compiler would load it twice, and
// load ports are the limit.
LAYA_INLINE __m512i load_once(const std::uint8_t* p) {
  __m512i value = _mm512_loadu_si512(p);
  asm("" : "+v"(value));
  return value;
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

#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/held_avx512.inc"
#include "simd/impl/table.inc"

std::uint64_t stream_read_kernel(const std::byte* data, std::size_t size_bytes) {
  __m512i total[8];
  for (__m512i& t : total) t = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; size_bytes - i >= 512; i += 512) {
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j)
      total[j] = _mm512_xor_si512(total[j], _mm512_loadu_si512(data + i + j * 64));
  }
  for (; size_bytes - i >= 64; i += 64)
    total[0] = _mm512_xor_si512(total[0], _mm512_loadu_si512(data + i));
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

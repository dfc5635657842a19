// AVX2 without VNNI. vpmaddubsw sums two products of an unsigned and a signed byte in 16 bits and
// saturates: 255 * 127 * 2 does not fit. So Int8 moves the sign: |x| * (sign(x) * (code - 128)), at
// most 127 * 127 * 2 = 32258, fits (this is why packing never writes code 0). Int4 codes fit as
// they are: 15 * 127 * 2 = 3810, and 8 such sums still fit (30480). Compiled with -mavx2 -mfma
// -mf16c; reached through the table only, on CPUs that have them.
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
constexpr int kSideBySide = 1;  // 16 registers hold no more
constexpr std::size_t kWideFrom = kMaxColumns + 1;
constexpr std::size_t kRowCodesFrom = kMaxColumns + 1;
constexpr int kKvHeads = 1;

// Sums of neighbouring 16-bit values, added to 8 int32.
LAYA_INLINE __m256i add_pairs(__m256i total, __m256i words) {
  return _mm256_add_epi32(total, _mm256_madd_epi16(words, _mm256_set1_epi16(1)));
}

template <typename Format, int kColumns>
LAYA_INLINE void dot_group_int8(const std::uint8_t* codes, const std::int8_t* x,
                                std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  // The products below are of code - centre; with minima the code itself is wanted.
  constexpr std::int32_t kSeedFactor = Format::kHasMinima ? kCentreInt8 : 0;
  for (int c = 0; c < kColumns; ++c) result[c] = splat_int(kSeedFactor * sums[c]);
  const __m256i centre = _mm256_set1_epi8(static_cast<char>(0x80));
  for (std::size_t quad = 0; quad < Format::kGroup / kQuad; ++quad) {
    const __m256i w0 = _mm256_xor_si256(load_bytes(codes), centre);
    const __m256i w1 = _mm256_xor_si256(load_bytes(codes + 32), centre);
    for (int c = 0; c < kColumns; ++c) {
      const __m256i xc = quad_of(x + c * 4);
      const __m256i magnitude = _mm256_abs_epi8(xc);
      result[c].a =
          add_pairs(result[c].a, _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(w0, xc)));
      result[c].b =
          add_pairs(result[c].b, _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(w1, xc)));
    }
    codes += 64;
    x += x_stride;
  }
}

template <typename Format, int kColumns>
LAYA_INLINE void dot_group_int4(const std::uint8_t* codes, const std::int8_t* x,
                                std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  constexpr std::int32_t kSeedFactor = Format::kHasMinima ? 0 : -kCentreInt4;
  for (int c = 0; c < kColumns; ++c) result[c] = splat_int(kSeedFactor * sums[c]);
  const __m256i low = _mm256_set1_epi8(15);
  for (std::size_t part = 0; part < Format::kGroup / 32;
       ++part) {  // 8 quads: what 16 bits can hold
    IVec words[kColumns];
    for (int c = 0; c < kColumns; ++c) words[c] = splat_int(0);
    for (int i = 0; i < 4; ++i) {
      const __m256i b0 = load_bytes(codes);
      const __m256i b1 = load_bytes(codes + 32);
      const __m256i l0 = _mm256_and_si256(b0, low);
      const __m256i l1 = _mm256_and_si256(b1, low);
      const __m256i h0 = _mm256_and_si256(_mm256_srli_epi16(b0, 4), low);
      const __m256i h1 = _mm256_and_si256(_mm256_srli_epi16(b1, 4), low);
      for (int c = 0; c < kColumns; ++c) {
        const __m256i x0 = quad_of(x + c * 4);
        const __m256i x1 = quad_of(x + x_stride + c * 4);
        words[c].a = _mm256_add_epi16(words[c].a, _mm256_maddubs_epi16(l0, x0));
        words[c].b = _mm256_add_epi16(words[c].b, _mm256_maddubs_epi16(l1, x0));
        words[c].a = _mm256_add_epi16(words[c].a, _mm256_maddubs_epi16(h0, x1));
        words[c].b = _mm256_add_epi16(words[c].b, _mm256_maddubs_epi16(h1, x1));
      }
      codes += 64;
      x += 2 * x_stride;
    }
    for (int c = 0; c < kColumns; ++c) {
      result[c].a = add_pairs(result[c].a, words[c].a);
      result[c].b = add_pairs(result[c].b, words[c].b);
    }
  }
}

template <typename Format, int kColumns, int kBlocks>
LAYA_INLINE void dot_group(const std::uint8_t* codes, std::size_t, const std::int8_t* x,
                           std::size_t x_stride, const std::int32_t* sums, IVec* result) {
  static_assert(kBlocks == 1);
  if constexpr (Format::kInt8) {
    dot_group_int8<Format, kColumns>(codes, x, x_stride, sums, result);
  } else {
    dot_group_int4<Format, kColumns>(codes, x, x_stride, sums, result);
  }
}

#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/table.inc"

}  // namespace

LAYA_TABLE(kAvx2Kernels, "avx2");

}  // namespace laya::simd

// AVX-512 with VNNI: 16 rows in one register, vpdpbusd multiplies unsigned codes with signed
// activations. Compiled with -mavx512*; reached through the table only, on CPUs that have it.
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

constexpr std::size_t kRowCodesFrom = kMaxColumns + 1;

// Each needs those before it.
// clang-format off
#include "simd/impl/format.inc"
#include "simd/impl/vec_avx512.inc"
#include "simd/impl/dot_avx512.inc"
#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
#include "simd/impl/matmul.inc"
#include "simd/impl/held_avx512.inc"
#include "simd/impl/table.inc"
// clang-format on

template <typename Format>
void wide_product(const MatmulArgs& args, Output to, std::size_t first, std::size_t last) {
  held_product<Format>(args, to, first, last);
}

}  // namespace

LAYA_TABLE(kAvx512VnniKernels, "avx512-vnni");

}  // namespace laya::simd

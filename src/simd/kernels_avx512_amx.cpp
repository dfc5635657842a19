// AVX-512 with VNNI, and Intel's tile unit (AMX) for passes of many columns. Compiled with
// -mavx512* -mamx-tile -mamx-int8; reached through the table only, on CPUs that have both and where
// the system lets this process use tiles (platform_x86.cpp).
#include <immintrin.h>

#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

constexpr std::size_t kRowCodesFrom = 9;

// Each needs those before it.
// clang-format off
#include "simd/impl/format.inc"
#include "simd/impl/vec_avx512.inc"
#include "simd/impl/blocks.inc"
#include "simd/impl/sums_avx512.inc"
#include "simd/impl/elementwise.inc"
#include "simd/impl/kv_attention.inc"
#include "simd/impl/tile_products.inc"
#include "simd/impl/table.inc"
// clang-format on

// Tiles 0..3 hold the sums, 4 the left and 5 and 6, by turns, the right factor.
struct AmxTiles {
  static_assert(kTileBlocks == 4);

  // g++ 12 does not know that the instructions below read memory (its _tile_loadconfig names 8 of
  // the 64 bytes, its _tile_loadd none): what was written before must be in place.
  static LAYA_INLINE void finish_writes(const void* p) { asm volatile("" ::"r"(p) : "memory"); }

  // Intel SDM volume 1, chapter 18: palette 1, then bytes a row (offset 16) and rows (48) by tile.
  static void begin(std::size_t columns, std::size_t bytes) {
    alignas(64) std::uint8_t config[64] = {};
    config[0] = 1;
    for (std::size_t tile = 0; tile < 7; ++tile) {
      const std::size_t row_bytes = tile == 4 ? bytes : kTileBytes;
      config[16 + 2 * tile] = static_cast<std::uint8_t>(row_bytes);
      config[48 + tile] = static_cast<std::uint8_t>(tile > 4 ? bytes / kQuad : columns);
    }
    finish_writes(config);
    _tile_loadconfig(config);
  }
  static void end() { _tile_release(); }
  static LAYA_INLINE void load_left(const std::int8_t* p, std::size_t stride) {
    finish_writes(p);
    _tile_loadd(4, p, stride);
  }
  template <int kSum>
  static LAYA_INLINE void clear() {
    if constexpr (kSum == 0) _tile_zero(0);
    if constexpr (kSum == 1) _tile_zero(1);
    if constexpr (kSum == 2) _tile_zero(2);
    if constexpr (kSum == 3) _tile_zero(3);
  }
  template <int kSum>
  static LAYA_INLINE void multiply(const std::uint8_t* right) {
    finish_writes(right);
    if constexpr (kSum % 2 == 0) _tile_loadd(5, right, kTileBytes);
    if constexpr (kSum % 2 == 1) _tile_loadd(6, right, kTileBytes);
    if constexpr (kSum == 0) _tile_dpbsud(0, 4, 5);
    if constexpr (kSum == 1) _tile_dpbsud(1, 4, 6);
    if constexpr (kSum == 2) _tile_dpbsud(2, 4, 5);
    if constexpr (kSum == 3) _tile_dpbsud(3, 4, 6);
  }
  template <int kSum>
  static LAYA_INLINE void store(std::int32_t* p) {
    if constexpr (kSum == 0) _tile_stored(0, p, kTileBytes);
    if constexpr (kSum == 1) _tile_stored(1, p, kTileBytes);
    if constexpr (kSum == 2) _tile_stored(2, p, kTileBytes);
    if constexpr (kSum == 3) _tile_stored(3, p, kTileBytes);
  }
};

void matmul_blocks_kernel(const MatmulArgs& args, std::size_t first, std::size_t last) {
  tile_matmul_blocks<AmxTiles>(args, first, last);
}
void matmul_rows_kernel(const MatmulArgs& args, const std::uint32_t* rows, std::size_t count) {
  tile_matmul_rows<AmxTiles>(args, rows, count);
}

}  // namespace

LAYA_TABLE(kAvx512AmxKernels, "avx512-amx");

}  // namespace laya::simd

// For tile_products_test.cpp: the table of kernels_avx512_amx.cpp with a tile unit in plain C++, so
// that its logic is tested on CPUs without one. Compiled with the flags of kernels_avx512_vnni.cpp.
#include "simd/emulated_tiles.h"

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

// The state of one thread's unit. Everything is left as rubbish where the real one would leave it,
// so that a use before a load, or after end(), shows.
struct Unit {
  std::size_t columns = 0, bytes = 0;
  std::int8_t left[16][64] = {};
  std::int32_t sums[kTileBlocks][16][16] = {};
  std::size_t products = 0;
};
thread_local Unit unit;

struct EmulatedTiles {
  static void begin(std::size_t columns, std::size_t bytes) {
    unit.columns = columns;
    unit.bytes = bytes;
    __builtin_memset(unit.left, 0x55, sizeof unit.left);
    __builtin_memset(unit.sums, 0x55, sizeof unit.sums);
  }
  static void end() { begin(0, 0); }
  static void load_left(const std::int8_t* p, std::size_t stride) {
    for (std::size_t c = 0; c < unit.columns; ++c) {
      __builtin_memcpy(unit.left[c], p + c * stride, unit.bytes);
    }
  }
  template <int kSum>
  static void clear() {
    for (auto& row : unit.sums[kSum]) {
      for (std::int32_t& sum : row) sum = 0;
    }
  }
  // TDPBSUD: signed left, unsigned right; Intel SDM volume 2.
  template <int kSum>
  static void multiply(const std::uint8_t* right) {
    ++unit.products;
    for (std::size_t c = 0; c < unit.columns; ++c) {
      for (std::size_t quad = 0; quad < unit.bytes / 4; ++quad) {
        for (std::size_t row = 0; row < 16; ++row) {
          for (std::size_t i = 0; i < 4; ++i) {
            unit.sums[kSum][c][row] += unit.left[c][quad * 4 + i] * right[quad * 64 + row * 4 + i];
          }
        }
      }
    }
  }
  template <int kSum>
  static void store(std::int32_t* p) {
    __builtin_memcpy(p, unit.sums[kSum], unit.columns * 16 * sizeof(std::int32_t));
  }
};

void matmul_blocks_kernel(const MatmulArgs& args, std::size_t first, std::size_t last) {
  tile_matmul_blocks<EmulatedTiles>(args, first, last);
}
void matmul_rows_kernel(const MatmulArgs& args, const std::uint32_t* rows, std::size_t count) {
  tile_matmul_rows<EmulatedTiles>(args, rows, count);
}

}  // namespace

LAYA_TABLE(kEmulatedTileKernels, "emulated-tiles");

std::size_t emulated_tile_products() { return unit.products; }

}  // namespace laya::simd

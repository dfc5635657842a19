// For tests: a table whose passes of many columns run on a tile unit in plain C++. Needs a CPU with
// avx512-vnni.
#pragma once

#include <cstddef>

#include "simd/kernels.h"

namespace laya::simd {

extern const Kernels kEmulatedTileKernels;

/// Tile products that this thread has computed so far.
std::size_t emulated_tile_products();

}  // namespace laya::simd

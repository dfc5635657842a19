// Whether a tile unit that the CPU reports can be trusted. Sandboxes and virtual machines have been
// met that announce AMX and then lose its state between two instructions, which ends in an illegal
// instruction; so it is tried before it is used.
#pragma once

#include "simd/kernels.h"

namespace laya::simd {

/// Asks the system for tiles (Linux grants them per process, arch_prctl ARCH_REQ_XCOMP_PERM), then
/// looks whether a tile configuration survives giving up the CPU. Takes about 0.2 ms; false where
/// there is any doubt. Only on CPUs that report AMX.
bool tiles_granted();

/// Whether both tables give the same bits for a small product of 16 columns, Int8 and Int4.
bool same_wide_products(const Kernels& a, const Kernels& b);

}  // namespace laya::simd

// A processor we have no kernels for: the scalar ones run.
#include "simd/cpu_features.h"
#include "simd/impl/platform.h"

namespace laya::simd {

CpuFeatures detect_cpu_features() { return {}; }

std::size_t collect_tables(std::span<const Kernels*>) { return 0; }

}  // namespace laya::simd

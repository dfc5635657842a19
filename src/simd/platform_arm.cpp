// What this processor family has (CMake picks one platform_*.cpp): 64-bit ARM.
#include "simd/cpu_features.h"
#include "simd/impl/platform.h"

#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace laya::simd {

CpuFeatures detect_cpu_features() {
  CpuFeatures f;
#if defined(__linux__)
  f.neon_dotprod = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
  f.neon_dotprod = true;  // every Apple silicon Mac (M1 and later) has it
#endif
  return f;
}

std::size_t collect_tables(std::span<const Kernels*> tables) {
  if (!detect_cpu_features().neon_dotprod) return 0;
  tables[0] = &kNeonDotprodKernels;
  return 1;
}

}  // namespace laya::simd

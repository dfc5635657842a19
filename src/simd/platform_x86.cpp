// What this processor family has (CMake picks one platform_*.cpp): features by cpuid, and the
// tables built for it.
#include <cpuid.h>

#include "simd/cpu_features.h"
#include "simd/impl/platform.h"
#include "simd/impl/tile_checks.h"

namespace laya::simd {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

// Which register states the operating system saves (XCR0); xgetbv without compiler flags.
unsigned saved_states() {
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool bit(unsigned word, int index) { return (word >> index & 1u) != 0; }

}  // namespace

// Bits: Intel SDM volume 2, CPUID; AMD uses the same.
CpuFeatures detect_cpu_features() {
  CpuFeatures f;
  const Registers one = cpuid(1, 0);
  const bool has_xgetbv = bit(one.ecx, 27);
  if (!has_xgetbv) return f;
  const unsigned saved = saved_states();
  const bool saves_ymm = (saved & 0x6u) == 0x6u;
  const bool saves_zmm = (saved & 0xE6u) == 0xE6u;
  const bool saves_tiles = (saved & 0x60000u) == 0x60000u;
  const Registers seven = cpuid(7, 0);
  const Registers seven_one = seven.eax >= 1 ? cpuid(7, 1) : Registers{};
  const bool fma = bit(one.ecx, 12);
  const bool f16c = bit(one.ecx, 29);
  f.avx2 = saves_ymm && bit(seven.ebx, 5) && fma && f16c;
  f.avx2_vnni = f.avx2 && bit(seven_one.eax, 4);
  const bool avx512 = bit(seven.ebx, 16) && bit(seven.ebx, 17) && bit(seven.ebx, 30) &&
                      bit(seven.ebx, 31);  // F DQ BW VL
  f.avx512_vnni = f.avx2 && saves_zmm && avx512 && bit(seven.ecx, 11);
  f.avx512_bf16 = f.avx512_vnni && bit(seven_one.eax, 5);
  f.amx_bf16 = saves_tiles && bit(seven.edx, 22) && bit(seven.edx, 24);
  f.amx_int8 = saves_tiles && bit(seven.edx, 24) && bit(seven.edx, 25);
  return f;
}

std::size_t collect_tables(std::span<const Kernels*> tables) {
  const CpuFeatures f = detect_cpu_features();
  std::size_t count = 0;
  if (f.avx2) tables[count++] = &kAvx2Kernels;
  if (f.avx2_vnni) tables[count++] = &kAvx2VnniKernels;
  if (f.avx512_vnni) tables[count++] = &kAvx512VnniKernels;
  if (f.avx512_vnni && f.amx_int8 && tiles_granted() &&
      same_wide_products(kAvx512AmxKernels, kAvx512VnniKernels)) {
    tables[count++] = &kAvx512AmxKernels;
  }
  return count;
}

}  // namespace laya::simd

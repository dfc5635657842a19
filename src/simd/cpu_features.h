// What the CPU this process runs on can do, as far as our kernels care. Asked once at start; cheap
// to ask again.
#pragma once

#include <string>

namespace laya::simd {

/// Instruction sets our kernels use. A field is true only when the CPU has it *and* the operating
/// system saves its registers.
struct CpuFeatures {
  bool avx2 = false;          ///< AVX2 with FMA and F16C (all three are needed by the AVX2 kernels)
  bool avx2_vnni = false;     ///< AVX-VNNI (VEX-encoded vpdpbusd on 256 bits)
  bool avx512_vnni = false;   ///< AVX-512 F, BW, DQ, VL and VNNI
  bool avx512_bf16 = false;   ///< reported by `laya doctor`; no kernel of this room needs it
  bool amx_bf16 = false;      ///< reported by `laya doctor`; oneDNN uses it in training
  bool amx_int8 = false;      ///< tiles of int8; the system must also grant them (platform_x86.cpp)
  bool neon_dotprod = false;  ///< ARMv8.2 SDOT
};

/// Asks the CPU (cpuid and xgetbv on x86, the auxiliary vector on Linux ARM). Never fails: unknown
/// means false.
CpuFeatures detect_cpu_features();

/// The names of the features that are present, separated by spaces ("avx2 avx512-vnni"); "none"
/// when there are none.
std::string cpu_feature_names(const CpuFeatures& features);

}  // namespace laya::simd

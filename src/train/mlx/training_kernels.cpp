#include "train/mlx/training_kernels.h"

#include <dnnl.hpp>

#include "simd/dispatch.h"
#include "train/mlx/precision.h"

namespace laya::train {

#if defined(__x86_64__)
const TrainingKernels& kernels() {
  static const TrainingKernels& best = []() -> const TrainingKernels& {
    const std::string_view setting = simd::kernels_setting();
    const bool may_be_avx512 = setting.empty() || setting.starts_with("avx512");
    if (setting == "scalar") return base::table();
    if (may_be_avx512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      return avx512::table();
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::table();
    return base::table();
  }();
  return best;
}

Precision best_precision() {
  // oneDNN's word, not the CPU's: ONEDNN_MAX_CPU_ISA may make the CPU smaller, and it then has no bf16. A
  // set of instructions includes another where it has all of its bits.
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto bf16 = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (isa & bf16) == bf16 ? Precision::Bf16 : Precision::Fp32;
}
#else
const TrainingKernels& kernels() { return base::table(); }

Precision best_precision() { return Precision::Fp32; }
#endif

}  // namespace laya::train

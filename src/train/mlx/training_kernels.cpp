#include "train/mlx/training_kernels.h"

#include "train/mlx/precision.h"

namespace laya::train {

#if defined(__x86_64__)
const TrainingKernels& kernels() {
  static const TrainingKernels& best = []() -> const TrainingKernels& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      return avx512::table();
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::table();
    return base::table();
  }();
  return best;
}

Precision best_precision() {
  return __builtin_cpu_supports("avx512bf16") ? Precision::Bf16 : Precision::Fp32;
}
#else
const TrainingKernels& kernels() { return base::table(); }

Precision best_precision() { return Precision::Fp32; }
#endif

}  // namespace laya::train

// What this machine has for training. One of two files implements it, chosen by CMake: with MLX and
// oneDNN, or without.
#pragma once

#include <string>

namespace laya::apps {

/// Rates in GFLOP/s of one product of the trainer's shape (512 x 1536 x 512), all threads, best of
/// a few runs. 0: cannot do it.
struct TrainingProbe {
  bool has_mlx = false;
  std::string mlx_version;
  double mlx_gflops = 0.0;  ///< MLX's matmul in fp32, that is the BLAS that stands in front of it
  double onednn_fp32_gflops = 0.0;  ///< what the trainer's own products reach
  double load_average =
      0.0;  ///< of the last minute, filled in by the caller: a busy machine measures too low
  double onednn_bf16_gflops = 0.0;  ///< measured where the CPU multiplies bfloat16 natively
};

/// Measures now, about 0.2 s for each rate. Never throws.
TrainingProbe probe_training();

}  // namespace laya::apps

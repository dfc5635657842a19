// What `laya doctor` wants to know about training, asked of `laya-train probe`: `laya` itself holds
// no training.
#pragma once

#include <string>
#include <string_view>

namespace laya::apps {

/// Rates are 0 where they could not be measured.
struct TrainingProbe {
  bool is_installed = true;  ///< `laya-train` is there
  bool has_mlx = false;
  std::string mlx_version{};
  double mlx_gflops = 0;          ///< a product of the training's shape through MLX, fp32
  double onednn_fp32_gflops = 0;  ///< the same through oneDNN
  double onednn_bf16_gflops = 0;  ///< 0 also where the CPU has no native bf16
  double load_average = 0;        ///< runnable threads over the last minute, others' included
};

/// What `laya-train probe` writes: one JSON object on one line.
std::string to_line(const TrainingProbe& probe);

/// The last such line of `output`; a probe that is not installed where there is none.
TrainingProbe parse_training_probe(std::string_view output);

}  // namespace laya::apps

// MLX: where there is a GPU, and as a cross-check. In a build without MLX loading says Unsupported.
#pragma once

#include "model/core/backend.h"

namespace laya::model {

/// In fp32.
Backend mlx_backend();
/// With MLX's own 8-bit weights, for the comparison of speeds; networks only.
Backend mlx_8bit_backend();

}  // namespace laya::model

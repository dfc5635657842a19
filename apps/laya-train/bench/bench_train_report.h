// The training step's speed; a stub file stands in where the trainer is not built.
#pragma once

#include <string>

#include "base/result.h"

namespace laya::apps {

/// A table for people. Unsupported where MLX or oneDNN are missing.
Result<std::string> bench_train_report();

}  // namespace laya::apps

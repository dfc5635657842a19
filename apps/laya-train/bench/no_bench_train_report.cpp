// In place of bench_train_report.cpp where MLX or oneDNN are missing.
#include "laya-train/bench/bench_train_report.h"

namespace laya::apps {

Result<std::string> bench_train_report() {
  return Error{ErrorCode::Unsupported,
               "bench train: this build has no trainer (MLX or oneDNN is missing); run: "
               "scripts/setup training"};
}

}  // namespace laya::apps

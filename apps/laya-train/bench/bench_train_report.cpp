#include "laya-train/bench/bench_train_report.h"

#include "train/gru/bench_train.h"

namespace laya::apps {

Result<std::string> bench_train_report() {
  const Result<train::BenchTrainReport> report = train::bench_train({});
  if (!report) return report.error();
  return train::format_report(*report);
}

}  // namespace laya::apps

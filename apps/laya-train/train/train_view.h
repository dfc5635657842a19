// Shows a training run: one line that rewrites itself on a terminal, plain lines elsewhere.
#pragma once

#include <cstdio>
#include <string>

#include "train/gru/gru_trainer.h"

namespace laya::apps {

/// Writes to `out`. One thread.
class TrainView final : public train::TrainObserver {
 public:
  explicit TrainView(std::FILE* out);

  void note(std::string_view line) override;
  void tick(const train::TrainTick& tick) override;
  void evaluated(const train::TrainTick& tick, const train::DevReport& report, bool best) override;
  void saved(const std::filesystem::path& path) override;

 private:
  void line(const std::string& text);

  std::FILE* out_;
  bool terminal_;
  bool bar_shown_ = false;
  std::int64_t last_shown_ns_ = 0;
};

}  // namespace laya::apps

// How far a long task is: one line that rewrites itself on a terminal, a plain line a stage
// elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "setup/progress.h"

namespace laya::apps {

class ProgressLine final : public setup::Progress {
 public:
  enum class Volume : std::uint8_t { Normal, Quiet };

  /// Writes to `out`, which must outlive it; nothing when Quiet.
  explicit ProgressLine(std::FILE* out, Volume volume = Volume::Normal);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() override { ProgressLine::clear(); }

  /// `note` stands behind the bar. At most ten times a second something is drawn.
  void show(std::string_view stage, double done, std::string_view note = {}) override;
  /// Takes the bar away, so that something else can be printed.
  void clear() override;

 private:
  std::FILE* out_;
  Volume volume_;
  bool terminal_;
  bool shown_ = false;
  std::string stage_;
  std::int64_t last_ns_ = 0;
};

}  // namespace laya::apps

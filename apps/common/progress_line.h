// How far a long task is: one line that rewrites itself on a terminal, a plain line a stage
// elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace laya::apps {

class ProgressLine {
 public:
  enum class Volume : std::uint8_t { Normal, Quiet };

  /// Writes to `out`, which must outlive it; nothing when Quiet.
  explicit ProgressLine(std::FILE* out, Volume volume = Volume::Normal);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// `stage` is at `done` of 1 (a negative number: nobody knows); `note` stands behind the bar.
  /// At most ten times a second something is drawn.
  void show(std::string_view stage, double done, std::string_view note = {});
  /// Takes the bar away, so that something else can be printed.
  void clear();

 private:
  std::FILE* out_;
  Volume volume_;
  bool terminal_;
  bool shown_ = false;
  std::string stage_;
  std::int64_t last_ns_ = 0;
};

/// "98.4 MB": powers of ten, as packages and disks are sold.
std::string megabytes_text(std::uint64_t bytes);

}  // namespace laya::apps

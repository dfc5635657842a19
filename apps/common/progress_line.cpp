#include "common/progress_line.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"

namespace laya::apps {
namespace {

constexpr std::int64_t kRedrawNs = 100'000'000;
constexpr int kBarCells = 24;

}  // namespace

ProgressLine::ProgressLine(std::FILE* out, Volume volume)
    : out_(out), volume_(volume), terminal_(::isatty(::fileno(out)) != 0) {}

void ProgressLine::show(std::string_view stage, double done, std::string_view note) {
  if (volume_ == Volume::Quiet) {
    return;
  }
  const bool new_stage = stage != stage_;
  if (!terminal_) {
    if (new_stage) std::fprintf(out_, "%.*s\n", static_cast<int>(stage.size()), stage.data());
    stage_ = stage;
    return;
  }
  const std::int64_t now = base::monotonic_ns();
  if (!new_stage && done < 1 && now - last_ns_ < kRedrawNs) {
    return;
  }
  last_ns_ = now;
  stage_ = stage;
  shown_ = true;
  std::string bar;
  if (done >= 0) {
    const int filled = static_cast<int>(std::min(done, 1.0) * kBarCells);
    bar = "[" + std::string(static_cast<std::size_t>(filled), '#') +
          std::string(static_cast<std::size_t>(kBarCells - filled), ' ') + "] ";
  }
  std::fprintf(out_, "\r%.*s %s%.*s\x1b[K", static_cast<int>(stage.size()), stage.data(),
               bar.c_str(), static_cast<int>(note.size()), note.data());
  std::fflush(out_);
}

void ProgressLine::clear() {
  if (shown_) {
    std::fprintf(out_, "\r\x1b[K");
    std::fflush(out_);
  }
  shown_ = false;
  stage_.clear();
}

}  // namespace laya::apps

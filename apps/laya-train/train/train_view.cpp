#include "laya-train/train/train_view.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace laya::apps {
namespace {

constexpr std::int64_t kBarEvery_ns = 200'000'000;
constexpr std::int64_t kLineEvery_ns = 30'000'000'000;

std::string duration(double seconds) {
  const auto total = static_cast<long>(seconds);
  char text[32];
  if (total >= 3600) {
    std::snprintf(text, sizeof(text), "%ldh%02ldm", total / 3600, total / 60 % 60);
  } else {
    std::snprintf(text, sizeof(text), "%ldm%02lds", total / 60, total % 60);
  }
  return text;
}

std::string summary(const train::TrainTick& tick) {
  char text[200];
  std::snprintf(
      text, sizeof(text),
      "%.2f of %.1f M tokens  loss %.3f (%.3f bits/char)  %.0f tokens/s  %s left  lr %.2e  %s head",
      static_cast<double>(tick.tokens) * 1e-6, static_cast<double>(tick.until_tokens) * 1e-6,
      tick.loss, tick.bits_per_character, tick.tokens_per_s, duration(tick.seconds_left).c_str(),
      static_cast<double>(tick.learning_rate),
      tick.head == train::HeadKind::Full ? "full" : "sampled");
  return text;
}

}  // namespace

TrainView::TrainView(std::FILE* out) : out_(out), terminal_(isatty(fileno(out)) != 0) {}

void TrainView::line(const std::string& text) {
  if (bar_shown_) std::fputs("\r\033[K", out_);
  bar_shown_ = false;
  std::fprintf(out_, "%s\n", text.c_str());
  std::fflush(out_);
}

void TrainView::note(std::string_view text) { line(std::string(text)); }

void TrainView::tick(const train::TrainTick& tick) {
  const std::int64_t now = base::monotonic_ns();
  if (last_shown_ns_ != 0 && now - last_shown_ns_ < (terminal_ ? kBarEvery_ns : kLineEvery_ns))
    return;
  last_shown_ns_ = now;
  if (!terminal_) return line(summary(tick));
  constexpr std::size_t kWidth = 20;
  const auto filled = static_cast<std::size_t>(std::clamp(tick.progress, 0.0, 1.0) * kWidth);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(out_, "\r\033[K[%s] %3.0f %%  %s", bar.c_str(), tick.progress * 100.0,
               summary(tick).c_str());
  std::fflush(out_);
  bar_shown_ = true;
}

void TrainView::evaluated(const train::TrainTick& tick, const train::DevReport& report, bool best) {
  char text[96];
  std::snprintf(text, sizeof(text), "dev at %.2f M tokens: %.4f bits/char%s",
                static_cast<double>(tick.tokens) * 1e-6, report.mean, best ? " (best so far)" : "");
  std::string all = text;
  for (const train::DevScore& score : report.sources) {
    std::snprintf(text, sizeof(text), " %.3f", score.bits_per_character);
    all += "  " + score.name + text;
  }
  line(all);
}

void TrainView::saved(const std::filesystem::path& path) { line("saved " + path.string()); }

}  // namespace laya::apps

#include "observe/prometheus_text.h"

#include <gtest/gtest.h>

#include <array>

namespace laya::observe {
namespace {

TEST(PrometheusText, WritesCountersAndGauges) {
  PrometheusText out;
  out.metric("laya_keys_total", MetricType::Counter, "Keys handled.");
  const std::array<Label, 2> labels{Label{"stage", "ghost"}, Label{"tier", "instant"}};
  out.sample(std::uint64_t{12345678901234567890u}, labels);
  out.metric("laya_load", MetricType::Gauge, "Part of one core.");
  out.sample(0.25);
  EXPECT_EQ(out.text(),
            "# HELP laya_keys_total Keys handled.\n"
            "# TYPE laya_keys_total counter\n"
            "laya_keys_total{stage=\"ghost\",tier=\"instant\"} 12345678901234567890\n"
            "# HELP laya_load Part of one core.\n"
            "# TYPE laya_load gauge\n"
            "laya_load 0.25\n");
}

TEST(PrometheusText, HistogramsAreCumulativeAndInSeconds) {
  LatencyHistogram histogram;
  histogram.record(5'000);
  histogram.record(500'000);
  histogram.record(7'000'000);
  histogram.record(2'000'000'000);
  PrometheusText out;
  out.metric("laya_key_seconds", MetricType::Histogram, "Time from key to reply.");
  const std::array<Label, 1> labels{Label{"stage", "all"}};
  out.sample(histogram, labels);
  const std::string& text = out.text();
  for (const char* line : {"laya_key_seconds_bucket{stage=\"all\",le=\"1e-05\"} 1\n",
                           "laya_key_seconds_bucket{stage=\"all\",le=\"0.001\"} 2\n",
                           "laya_key_seconds_bucket{stage=\"all\",le=\"0.005\"} 2\n",
                           "laya_key_seconds_bucket{stage=\"all\",le=\"0.0074\"} 3\n",
                           "laya_key_seconds_bucket{stage=\"all\",le=\"1\"} 3\n",
                           "laya_key_seconds_bucket{stage=\"all\",le=\"+Inf\"} 4\n",
                           "laya_key_seconds_sum{stage=\"all\"} 2.007505\n",
                           "laya_key_seconds_count{stage=\"all\"} 4\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "is not in:\n" << text;
  }
}

TEST(PrometheusText, NamesAndLabelsCannotBreakTheFormat) {
  PrometheusText out;
  out.metric("9 odd-name", MetricType::Gauge, "two\nlines \\ and more");
  const std::array<Label, 1> labels{Label{"la bel", "quote \" slash \\ line\n"}};
  out.sample(std::uint64_t{1}, labels);
  EXPECT_EQ(out.text(),
            "# HELP __odd_name two\\nlines \\\\ and more\n"
            "# TYPE __odd_name gauge\n"
            "__odd_name{la_bel=\"quote \\\" slash \\\\ line\\n\"} 1\n");
}

TEST(PrometheusText, MemoryIsInBytes) {
  PrometheusText out;
  out.memory({.resident = 10, .peak_resident = 20, .private_bytes = 5, .locked = 3});
  EXPECT_NE(out.text().find("\nlaya_resident_bytes 10\n"), std::string::npos);
  EXPECT_NE(out.text().find("\nlaya_peak_resident_bytes 20\n"), std::string::npos);
  EXPECT_NE(out.text().find("\nlaya_locked_bytes 3\n"), std::string::npos);
}

}  // namespace
}  // namespace laya::observe

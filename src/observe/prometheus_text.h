// Figures as Prometheus reads them (text exposition format 0.0.4). Written for whoever runs Laya;
// nothing typed is ever in it: names, help and labels come from our own code, values are numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "observe/latency_histogram.h"
#include "observe/memory_figures.h"

namespace laya::observe {

/// One label; both parts from a closed set in our code (a stage, a source), never from what users
/// type.
using Label = std::pair<std::string_view, std::string_view>;

enum class MetricType { Counter, Gauge, Histogram };

/// Collects metrics; take the text with text(). Base units as Prometheus asks: seconds, bytes;
/// counters end in "_total". Characters that a name may not hold become '_'; label values and help
/// are escaped.
class PrometheusText {
 public:
  /// Starts a metric: its HELP and TYPE lines. The samples that follow belong to it.
  void metric(std::string_view name, MetricType type, std::string_view help);
  void sample(double value, std::span<const Label> labels = {});
  void sample(std::uint64_t value, std::span<const Label> labels = {});
  /// Cumulative buckets in seconds, from 10 µs to 1 s with the 7.4 ms that people ask for, then sum
  /// and count.
  void sample(const LatencyHistogram& histogram, std::span<const Label> labels = {});

  /// laya_resident_bytes, laya_peak_resident_bytes, laya_locked_bytes.
  void memory(const MemoryFigures& figures);

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view suffix, std::span<const Label> labels, std::string_view extra_label,
            std::string_view value);

  std::string name_;
  std::string text_;
};

}  // namespace laya::observe

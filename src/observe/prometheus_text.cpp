#include "observe/prometheus_text.h"

#include <array>
#include <charconv>

namespace laya::observe {
namespace {

constexpr std::array<std::uint64_t, 13> kEdgesNs{
    10'000,    30'000,    100'000,    300'000,    1'000'000,   2'000'000,    3'000'000,
    5'000'000, 7'400'000, 10'000'000, 30'000'000, 100'000'000, 1'000'000'000};

template <typename T>
std::string number(T value) {
  std::array<char, 32> digits;  // shortest round-trip form of a double has at most 24 characters
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

std::string seconds(std::uint64_t nanoseconds) {
  return number(static_cast<double>(nanoseconds) / 1e9);
}

/// [a-zA-Z_][a-zA-Z0-9_]*; ':' is for recording rules only.
std::string clean_name(std::string_view name) {
  std::string clean;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    clean.push_back(letter || (digit && !clean.empty()) ? c : '_');
  }
  return clean.empty() ? "_" : clean;
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (special.find(c) != std::string_view::npos) {
        out += '\\';
      }
      out += c;
    }
  }
  return out;
}

constexpr std::string_view type_name(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Histogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace

void PrometheusText::metric(std::string_view name, MetricType type, std::string_view help) {
  name_ = clean_name(name);
  text_ += "# HELP " + name_ + " " + escaped(help, "\\") + "\n# TYPE " + name_ + " ";
  text_ += type_name(type);
  text_ += '\n';
}

void PrometheusText::line(std::string_view suffix, std::span<const Label> labels,
                          std::string_view extra_label, std::string_view value) {
  text_ += name_;
  text_ += suffix;
  std::string list;
  for (const auto& [name, content] : labels) {
    list += (list.empty() ? "" : ",") + clean_name(name) + "=\"" + escaped(content, "\\\"") + "\"";
  }
  if (!extra_label.empty()) {
    list += list.empty() ? "" : ",";
    list += extra_label;
  }
  if (!list.empty()) {
    text_ += "{" + list + "}";
  }
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void PrometheusText::sample(double value, std::span<const Label> labels) {
  line("", labels, "", number(value));
}

void PrometheusText::sample(std::uint64_t value, std::span<const Label> labels) {
  line("", labels, "", number(value));
}

void PrometheusText::sample(const LatencyHistogram& histogram, std::span<const Label> labels) {
  for (const std::uint64_t edge : kEdgesNs) {
    line("_bucket", labels, "le=\"" + seconds(edge) + "\"", number(histogram.count_up_to(edge)));
  }
  const std::string count = number(histogram.count());
  line("_bucket", labels, "le=\"+Inf\"", count);
  line("_sum", labels, "", seconds(histogram.sum_ns()));
  line("_count", labels, "", count);
}

void PrometheusText::memory(const MemoryFigures& figures) {
  metric("laya_resident_bytes", MetricType::Gauge, "Memory of this process that is in RAM now.");
  sample(figures.resident);
  metric("laya_peak_resident_bytes", MetricType::Gauge, "The most that was in RAM at once.");
  sample(figures.peak_resident);
  metric("laya_locked_bytes", MetricType::Gauge, "Memory that cannot be swapped out.");
  sample(figures.locked);
}

}  // namespace laya::observe

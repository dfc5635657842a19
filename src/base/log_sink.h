// Where a library room sends what an operator may want to read. Passed in by main, never global: a
// library that prints cannot be embedded. Typed text never goes here.
#pragma once

#include <string_view>

namespace laya::base {

enum class LogLevel { Debug, Info, Warning, Error };

/// Short lower-case name ("warning").
constexpr std::string_view log_level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warning:
      return "warning";
    case LogLevel::Error:
      return "error";
  }
  return "error";
}

/// Implementations must accept calls from any thread and must not throw.
class LogSink {
 public:
  virtual ~LogSink() = default;
  /// One line, without its newline; the view is valid only during the call.
  virtual void write(LogLevel level, std::string_view line) = 0;
};

/// Drops everything: the default of tests and of callers who do not care.
class NullLogSink final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

}  // namespace laya::base

// Runs a subcommand as the program would, in a test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/command.h"

namespace laya::apps {

struct Answer {
  int exit_code;
  std::string out;
  std::string err;
};

/// `laya <arguments>` with the commands that `add` (CLI::App&, Outcome&) adds; exit code kUsage
/// where CLI11 refuses the arguments.
template <typename Add>
Answer run_command(const Add& add, std::vector<std::string> arguments) {
  CLI::App app;
  Outcome outcome;
  add(app, outcome);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError&) {
    outcome.exit_code = kUsage;
  }
  std::string out = testing::internal::GetCapturedStdout();
  return {outcome.exit_code, std::move(out), testing::internal::GetCapturedStderr()};
}

}  // namespace laya::apps

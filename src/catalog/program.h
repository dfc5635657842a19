// Runs another program to its end: pip.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/result.h"

namespace laya::catalog {

struct ProgramEnd {
  int exit_code = 0;   ///< 128 + signal where a signal ended it
  std::string output;  ///< the last 8 KiB of what it wrote, both streams
};

/// Starts the program as base::start_child() does, its input empty, and reads what it writes.
/// `tick`, which may be empty, is called some five times a second. Unsupported: there is no such
/// program; Io.
Result<ProgramEnd> run_program(base::ChildOptions child, const std::function<void()>& tick);

}  // namespace laya::catalog

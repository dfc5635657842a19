// Runs another program to its end: pip.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace laya::catalog {

struct ProgramEnd {
  int exit_code = 0;   ///< 128 + signal where a signal ended it
  std::string output;  ///< the last 8 KiB of what it wrote, both streams
};

/// Starts `arguments[0]`, looked for in $PATH, with the caller's environment and `variables`
/// ("NAME=value") over it; its input is empty. `tick`, which may be empty, is called some five
/// times a second. Unsupported: there is no such program; Io.
Result<ProgramEnd> run_program(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& variables,
                               const std::function<void()>& tick);

}  // namespace laya::catalog

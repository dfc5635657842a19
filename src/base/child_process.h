// Starts another program so that it runs what we meant and ends when we do.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::base {

struct ChildOptions {
  std::vector<std::string> arguments;    ///< arguments[0]: the program, as find_program() takes it
  std::vector<std::string> environment;  ///< all of it, "NAME=value" each
  std::string folder = "/";              ///< where it starts: never where the user happens to stand
  int in = -1;                           ///< its standard input; -1: /dev/null, as with the others
  int out = -1;
  int error = -1;
};

/// Full path of a program: `name` itself where it holds a '/', else looked for in $PATH. Entries of
/// $PATH that are empty or relative are passed over: what lies in the current folder is not meant.
/// Unsupported: there is none.
Result<std::string> find_program(std::string_view name);

/// The caller's environment with `variables` over it, without the variables whose names begin with
/// one of `dropped_prefixes`.
std::vector<std::string> environment_with(const std::vector<std::string>& variables,
                                          const std::vector<std::string>& dropped_prefixes = {});

/// The process id of the started program, to be waited for. It gets SIGKILL when the calling thread
/// ends, however that ends, so that no kill leaves it running: call this from a thread that lives
/// as long as the program is wanted. It inherits no other descriptor that is close-on-exec, no
/// blocked signal. Errors: as find_program(); Io.
Result<pid_t> start_child(const ChildOptions& options);

/// Waits for its end: its exit code, or 128 + the signal that ended it.
int wait_for_child(pid_t child);

}  // namespace laya::base

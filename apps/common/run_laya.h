// For tests only: runs the `laya` program as a script does, without a terminal.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "base/test_folder.h"

namespace laya::apps {

struct Ran {
  int code = -1;
  std::string out;
  std::string error;
};

/// Runs `<before> laya <arguments>` in a shell; `before` may set variables or limits. What the user
/// has installed plays no part unless $LAYA_DEEP or $XDG_DATA_HOME is set there.
inline Ran run_laya(const std::string& arguments, const std::string& before = "",
                    const std::string& input = "/dev/null") {
  const base::TestFolder folder;
  const std::string error_file = folder.file("stderr");
  const std::string command = "export LAYA_DEEP=none; " + before + " " LAYA_PROGRAM " " +
                              arguments + " 2>" + error_file + " <" + input;
  Ran ran;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ran.out.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ifstream in(error_file, std::ios::binary);
  ran.error.assign(std::istreambuf_iterator<char>(in), {});
  return ran;
}

}  // namespace laya::apps

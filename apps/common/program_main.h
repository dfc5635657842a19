// What every program of ours does around its work.
#pragma once

#include <functional>
#include <string_view>

namespace laya::apps {

/// Runs `body`, which parses and does the work, and returns the exit code. Before it: typed text is
/// kept out of core dumps, a file-size limit becomes an error. Around it: output is made safe for a
/// terminal (ProgramOutput). Behind it: output that did not arrive is a failure. Exceptions stop
/// here; one that the system caused (no memory, a name too long) is told as such, others are bugs.
int run_main(std::string_view program, const std::function<int()>& body);

}  // namespace laya::apps

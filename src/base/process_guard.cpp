#include "base/process_guard.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

// There where the leak checker (AddressSanitizer's) is linked in, else null.
extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));

namespace laya::base {

Status keep_memory_private() {
  constexpr rlimit kNone{0, 0};
  const bool checked_for_leaks = __lsan_do_recoverable_leak_check != nullptr;
  if (::setrlimit(RLIMIT_CORE, &kNone) != 0 ||
      (!checked_for_leaks && ::prctl(PR_SET_DUMPABLE, 0) != 0)) {
    return Error{ErrorCode::Io,
                 "core dumps, which would hold what is typed, cannot be turned off: " +
                     std::generic_category().message(errno)};
  }
  return {};
}

void report_file_size_limit() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace laya::base

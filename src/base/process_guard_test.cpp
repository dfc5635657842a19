#include "base/process_guard.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/atomic_file.h"
#include "base/test_folder.h"

namespace laya::base {
namespace {

/// Runs `check` in a process of its own: what it sets cannot be taken back.
template <typename Check>
int exit_code_of(const Check& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(ProcessGuard, NoCoreHoldsTypedText) {
  EXPECT_EQ(exit_code_of([] {
              if (!keep_memory_private()) return 1;
              rlimit core{1, 1};
              if (::getrlimit(RLIMIT_CORE, &core) != 0) return 2;
              if (core.rlim_cur != 0 || core.rlim_max != 0) return 3;
              return ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 5;
            }),
            0);
}

TEST(ProcessGuard, AFileThatGrowsTooLargeIsAnError) {
  TestFolder folder;
  EXPECT_EQ(exit_code_of([&] {
              const rlimit small{1000, 1000};
              report_file_size_limit();
              if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 1;
              const Status written = write_file(folder.file("a"), std::string(5000, 'x'));
              return !written && written.error().code == ErrorCode::Io ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace laya::base

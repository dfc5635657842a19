// What holds for every command: run as a script runs it.
#include "common/program_main.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <iostream>
#include <new>

#include "base/atomic_file.h"
#include "common/program_output.h"
#include "common/run_laya.h"

namespace laya::apps {
namespace {

/// Exit code and standard error of a body, in a process of its own.
testing::AssertionResult ends(const std::function<int()>& body, int code, const char* says) {
  const base::TestFolder folder;
  const std::string file = folder.file("stderr");
  const pid_t child = ::fork();
  if (child == 0) {
    std::freopen(file.c_str(), "w", stderr);
    ::_exit(run_main("laya", body));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const std::string error = base::read_file(file, 1 << 16).value();
  const bool right = WIFEXITED(status) && WEXITSTATUS(status) == code &&
                     error.find(says) != std::string::npos &&
                     error.find("please report") == std::string::npos;
  return right ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "status " << status << ": " << error;
}

TEST(ProgramMain, WhatTheSystemCausesIsNoBugOfOurs) {
  EXPECT_TRUE(ends([]() -> int { throw std::bad_alloc(); }, 1, "not enough memory"));
  EXPECT_TRUE(
      ends([]() -> int { return std::filesystem::exists("/" + std::string(300, 'x')) ? 0 : 3; }, 1,
           "too long"));
  EXPECT_TRUE(
      ends([]() -> int { throw std::system_error(EAGAIN, std::generic_category()); }, 1, "ulimit"));
}

TEST(ProgramMain, NothingPrintedMovesTheCursor) {
  const base::TestFolder folder;
  const std::string file = folder.file("stdout");
  const pid_t child = ::fork();
  if (child == 0) {
    std::freopen(file.c_str(), "w", stdout);
    ::_exit(run_main("laya", [] {
      std::cout << "one \x1b[2J";
      std::printf("two \xE2\x80\xAE%s", "\x9B");
      std::cout << "\nthree\n";
      return 0;
    }));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(base::read_file(file, 1000).value(),
            "one \xEF\xBF\xBD[2Jtwo \xEF\xBF\xBD\xEF\xBF\xBD\nthree\n");
}

TEST(ProgramMain, OutputThatDoesNotArriveIsAFailure) {
  for (const char* arguments : {"--version", "--help", "doctor", "doctor --json", "model list",
                                "complete --context 'see you tom' --deep none"}) {
    SCOPED_TRACE(arguments);
    const Ran ran = run_laya(arguments, "", "/dev/null >/dev/full");
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.error.find("No space left"), std::string::npos) << ran.error;
  }
}

TEST(ProgramMain, NoCoreHoldsTypedText) {
  const base::TestFolder folder;
  ASSERT_EQ(std::system(("mkfifo " + folder.file("text")).c_str()), 0);
  // The program waits for its text; meanwhile its limits can be read.
  const Ran ran = run_laya(
      "complete --context-file - --deep none < " + folder.file("text") +
      " >/dev/null & pid=$!; exec 3> " + folder.file("text") +
      "; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; grep 'core file size' /proc/$pid/limits; "
      "done | tail -1; echo hello >&3; exec 3>&-; wait $pid");
  EXPECT_NE(ran.out.find("Max core file size        0                    0"), std::string::npos)
      << ran.out << ran.error;
}

}  // namespace
}  // namespace laya::apps

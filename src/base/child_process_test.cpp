#include "base/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <thread>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "base/unique_fd.h"

namespace laya::base {
namespace {

class ChildProcess : public testing::Test {
 protected:
  void script(const std::string& path, const std::string& text) const {
    ASSERT_TRUE(write_file(path, "#!/bin/sh\n" + text));
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  }
  /// What the script prints.
  std::string output_of(ChildOptions options) const {
    const std::string path = folder_.file("out");
    {
      const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      options.out = out.get();
      const Result<pid_t> child = start_child(options);
      EXPECT_TRUE(child) << child.error().message;
      if (!child) return {};
      EXPECT_EQ(wait_for_child(*child), 0);
    }
    return read_file(path, 1 << 20).value();
  }
  TestFolder folder_;
};

TEST_F(ChildProcess, RunsNothingThatLiesInTheCurrentFolder) {
  script(folder_.file("laya-tool"), "true\n");
  const std::string path = std::getenv("PATH");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* value : {".", "", ":", "..:.", "./"}) {
    ::setenv("PATH", value, 1);
    EXPECT_FALSE(find_program("laya-tool")) << "PATH=" << value;
  }
  ::setenv("PATH", (".:" + folder_.path().string()).c_str(), 1);
  EXPECT_EQ(find_program("laya-tool").value(), folder_.file("laya-tool"));
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(find_program("./laya-tool").value(), folder_.path() / "./laya-tool");
  std::filesystem::current_path(before);
}

TEST_F(ChildProcess, StartsInTheGivenFolderWithTheGivenEnvironment) {
  script(folder_.file("tool"), "pwd; echo \"$1 $A|$PYTHONPATH\"\n");
  ::setenv("PYTHONPATH", "/somewhere", 1);
  const std::string got = output_of({.arguments = {folder_.file("tool"), "one"},
                                     .environment = environment_with({"A=1"}, {"PYTHON"}),
                                     .folder = "/"});
  ::unsetenv("PYTHONPATH");
  EXPECT_EQ(got, "/\none 1|\n");
}

TEST_F(ChildProcess, SaysWhyAProgramDoesNotStart) {
  EXPECT_EQ(start_child({.arguments = {"no-such-program"}, .environment = {}}).error().code,
            ErrorCode::Unsupported);
  ASSERT_TRUE(write_file(folder_.file("broken"), "#!/no/such/interpreter\n"));
  ::chmod(folder_.file("broken").c_str(), 0755);
  const Result<pid_t> child =
      start_child({.arguments = {folder_.file("broken")}, .environment = {}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::Io);
}

TEST_F(ChildProcess, EndsWithItsParentHoweverThatEnds) {
  script(folder_.file("tool"), "echo $$ > " + folder_.file("pid") + ".part; mv " +
                                   folder_.file("pid") + ".part " + folder_.file("pid") +
                                   "; exec sleep 60\n");
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Result<pid_t> child =
        start_child({.arguments = {folder_.file("tool")}, .environment = environment_with({})});
    if (child) wait_for_child(*child);
    ::_exit(0);
  }
  std::string text;
  for (int i = 0; i < 2000 && text.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (const auto read = read_file(folder_.file("pid"), 100); read) text = *read;
  }
  const pid_t child = std::atoi(text.c_str());
  ASSERT_GT(child, 0);
  ASSERT_EQ(::kill(child, 0), 0);
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  // Where nobody reaps orphans a dead process stays as a zombie: its state says that it has ended.
  const auto runs = [&] {
    const auto stat = read_file("/proc/" + std::to_string(child) + "/stat", 1000);
    return stat && stat->find(") Z") == std::string::npos;
  };
  for (int i = 0; i < 2000 && runs(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(runs());
}

}  // namespace
}  // namespace laya::base

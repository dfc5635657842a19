#include "base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <thread>
#include <utility>

#include "base/test_folder.h"
#include "base/unique_fd.h"

namespace laya::base {
namespace {

TEST(AtomicFile, ShowsTheOldFileUntilCommit) {
  TestFolder folder;
  const std::string path = folder.file("model");
  ASSERT_TRUE(write_file(path, "old"));
  Result<AtomicFile> file = AtomicFile::create(path);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->write("brand "));
  ASSERT_TRUE(file->write("new"));
  EXPECT_EQ(read_file(path, 100).value(), "old");
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(read_file(path, 100).value(), "brand new");
  EXPECT_EQ(folder.count(), 1u);
  EXPECT_FALSE(file->write("more"));
  EXPECT_FALSE(file->commit());
}

TEST(AtomicFile, LeavesNothingBehindWithoutCommit) {
  TestFolder folder;
  {
    Result<AtomicFile> file = AtomicFile::create(folder.file("a"));
    ASSERT_TRUE(file);
    AtomicFile moved = std::move(*file);
    ASSERT_TRUE(moved.write("x"));
    EXPECT_EQ(folder.count(), 0u) << "what has no name is not left by a kill";
  }
  EXPECT_EQ(folder.count(), 0u);
}

TEST(AtomicFile, OverwritesAHeaderAfterMuchData) {
  TestFolder folder;
  Result<AtomicFile> file = AtomicFile::create(folder.file("a"));
  ASSERT_TRUE(file);
  const std::string block(300'000, 'b');
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(file->write(block));
  }
  ASSERT_TRUE(file->write(std::string(5'000'000, 'c')));
  constexpr std::array<std::byte, 2> kHead{std::byte{'H'}, std::byte{'h'}};
  ASSERT_TRUE(file->write_at(0, kHead));
  EXPECT_FALSE(file->write_at(8'000'000, kHead)) << "nothing was written there yet";
  ASSERT_TRUE(file->commit());
  const Result<std::string> text = read_file(folder.file("a"), 1 << 30);
  ASSERT_TRUE(text);
  ASSERT_EQ(text->size(), 8'000'000u);
  EXPECT_EQ(text->substr(0, 3), "Hhb");
  EXPECT_EQ(text->substr(2'999'999, 2), "bc");
  EXPECT_EQ(file->size(), 8'000'000u);
}

TEST(AtomicFile, ASizeLimitOfTheSystemIsAnIoErrorAndNothingIsLeft) {
  // RLIMIT_FSIZE stands in for a full disk: the kernel refuses the write in the middle of the file.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  TestFolder folder;
  const Status written = write_file(folder.file("a"), std::string(3 << 20, 'x'));
  Result<AtomicFile> file = AtomicFile::create(folder.file("b"));
  ASSERT_TRUE(file);
  const Status first = file->write(std::string(2 << 20, 'x'));
  const Status second = file->write("y");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::Io);
  EXPECT_NE(written.error().message.find(folder.file("a") + ": cannot write: "), std::string::npos)
      << written.error().message;
  ASSERT_FALSE(first);
  ASSERT_FALSE(second);
  EXPECT_EQ(first.error().message, second.error().message);
  EXPECT_FALSE(file->commit());
  EXPECT_EQ(folder.count(), 0u);
}

TEST(AtomicFile, AMissingFolderIsNamed) {
  TestFolder folder;
  const Result<AtomicFile> file = AtomicFile::create(folder.file("no/such/place"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::Io);
  EXPECT_NE(file.error().message.find("no/such/place"), std::string::npos);
}

TEST(AtomicFile, KeepsThePermissionsOfTheFileItReplaces) {
  TestFolder folder;
  const std::string path = folder.file("a");
  for (const mode_t mode : {0600, 0640, 0755, 0666}) {
    ASSERT_TRUE(write_file(path, "old"));
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(write_file(path, "new"));
    struct stat now {};
    ASSERT_EQ(::stat(path.c_str(), &now), 0);
    EXPECT_EQ(now.st_mode & 07777, mode);
    EXPECT_EQ(read_file(path, 10).value(), "new");
  }
  if (::geteuid() == 0) {  // who may, keeps the owner, too
    ASSERT_EQ(::chown(path.c_str(), 1234, 4321), 0);
    ASSERT_TRUE(write_file(path, "again"));
    struct stat now {};
    ASSERT_EQ(::stat(path.c_str(), &now), 0);
    EXPECT_EQ(now.st_uid, 1234u);
    EXPECT_EQ(now.st_gid, 4321u);
  }
}

TEST(AtomicFile, WritesToWhatASymbolicLinkNames) {
  TestFolder folder;
  std::filesystem::create_directory(folder.file("far"));
  ASSERT_TRUE(write_file(folder.file("far/a"), "old"));
  std::filesystem::create_symlink("far/a", folder.file("near"));
  std::filesystem::create_symlink(folder.file("near"), folder.file("chain"));
  std::filesystem::create_symlink("far/new", folder.file("dangling"));
  ASSERT_TRUE(write_file(folder.file("chain"), "new"));
  ASSERT_TRUE(write_file(folder.file("dangling"), "made"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("near")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("chain")));
  EXPECT_EQ(read_file(folder.file("far/a"), 10).value(), "new");
  EXPECT_EQ(read_file(folder.file("far/new"), 10).value(), "made");
}

TEST(AtomicFile, RefusesCirclesFoldersAndOtherPeoplesLinksAtOnce) {
  TestFolder folder;
  std::filesystem::create_symlink("b", folder.file("a"));
  std::filesystem::create_symlink("a", folder.file("b"));
  for (const std::string& path :
       {folder.file("a"), folder.path().string(), folder.file(std::string(300, 'x'))}) {
    const Result<AtomicFile> file = AtomicFile::create(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().code, ErrorCode::Io);
    EXPECT_NE(file.error().message.find(path), std::string::npos);
  }
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can make another user's link";
  }
  std::filesystem::create_directory(folder.file("shared"));
  ASSERT_EQ(::chmod(folder.file("shared").c_str(), 01777), 0);
  std::filesystem::create_symlink("../victim", folder.file("shared/link"));
  ASSERT_EQ(::lchown(folder.file("shared/link").c_str(), 1234, 1234), 0);
  EXPECT_FALSE(AtomicFile::create(folder.file("shared/link")));
}

TEST(AtomicFile, WritesThroughToDevicesAndFifos) {
  TestFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] {
    const UniqueFd fd(::open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = ::read(fd.get(), buffer.data(), buffer.size())) > 0;) {
      got.append(buffer.data(), static_cast<std::size_t>(n));
    }
  });
  Result<AtomicFile> file = AtomicFile::create(fifo);
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(file->write(std::string(3'000'000, 'x')));
  constexpr std::array<std::byte, 1> kHead{std::byte{'H'}};
  EXPECT_TRUE(file->write_at(0, kHead)) << "a header that is known only at the end";
  EXPECT_TRUE(file->commit());
  reader.join();
  EXPECT_EQ(got, "H" + std::string(2'999'999, 'x'));
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
  EXPECT_EQ(folder.count(), 1u);

  EXPECT_TRUE(write_file("/dev/null", "x"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Status full = write_file("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::Io);

  // A shell's "-o /dev/stdout > file": the file stays the one that the shell opened.
  ASSERT_TRUE(write_file(folder.file("target"), "first "));
  const UniqueFd open_file(::open(folder.file("target").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(write_file("/proc/self/fd/" + std::to_string(open_file.get()), "second"));
  EXPECT_EQ(read_file(folder.file("target"), 100).value(), "first second");
}

TEST(AtomicFile, AKillLeavesNoFileBehind) {
  TestFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    Result<AtomicFile> file = AtomicFile::create(folder.file("a"));
    if (file && file->write(std::string(5 << 20, 'x'))) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(folder.count(), 0u);
}

TEST(ReadFile, StopsAtTheLimit) {
  TestFolder folder;
  ASSERT_TRUE(write_file(folder.file("a"), "12345"));
  EXPECT_EQ(read_file(folder.file("a"), 5).value(), "12345");
  const Result<std::string> large = read_file(folder.file("a"), 4);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::TooLarge);
  EXPECT_FALSE(read_file(folder.path().string(), 10));
  EXPECT_EQ(read_file("/proc/self/cmdline", 1 << 20).value().empty(), false) << "size 0 by stat";
}

}  // namespace
}  // namespace laya::base

#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <utility>

#include "base/test_folder.h"

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
    EXPECT_EQ(folder.count(), 1u);
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

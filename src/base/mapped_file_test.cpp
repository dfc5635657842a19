#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/test_folder.h"

namespace laya::base {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, GivesTheBytesAndSurvivesBeingMoved) {
  TestFolder folder;
  ASSERT_TRUE(write_file(folder.file("a"), "hello"));
  Result<MappedFile> opened = MappedFile::open(folder.file("a"), 5);
  ASSERT_TRUE(opened) << opened.error().message;
  const std::byte* address = opened->bytes().data();
  MappedFile moved = std::move(*opened);
  MappedFile assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.bytes().data(), address);
  EXPECT_EQ(text_of(assigned), "hello");
  assigned.advise(Access::WillNeed);
}

TEST(MappedFile, KeepsTheOldBytesWhenTheFileIsReplaced) {
  TestFolder folder;
  ASSERT_TRUE(write_file(folder.file("a"), "old bytes"));
  Result<MappedFile> opened = MappedFile::open(folder.file("a"), 100);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(write_file(folder.file("a"), "n"));
  EXPECT_EQ(text_of(*opened), "old bytes");
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
  TestFolder folder;
  ASSERT_TRUE(write_file(folder.file("a"), ""));
  Result<MappedFile> opened = MappedFile::open(folder.file("a"), 0);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->bytes().empty());
}

TEST(MappedFile, RefusesWhatItCannotMapAndNamesIt) {
  TestFolder folder;
  ASSERT_TRUE(write_file(folder.file("six"), "sixsix"));
  const Result<MappedFile> large = MappedFile::open(folder.file("six"), 5);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(large.error().message, folder.file("six") + ": 6 bytes, the limit is 5");

  const Result<MappedFile> missing = MappedFile::open(folder.file("none"), 5);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Io);
  EXPECT_NE(missing.error().message.find(folder.file("none")), std::string::npos);

  const Result<MappedFile> not_a_file = MappedFile::open(folder.path().string(), 5);
  ASSERT_FALSE(not_a_file);
  EXPECT_NE(not_a_file.error().message.find("not a regular file"), std::string::npos);

  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  EXPECT_FALSE(MappedFile::open(folder.file("fifo"), 5)) << "and does not hang";
}

}  // namespace
}  // namespace laya::base

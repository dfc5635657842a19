#include "text/text_file.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "base/atomic_file.h"
#include "base/test_folder.h"

namespace laya::text {
namespace {

std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(TextFile, IsReadAlikePlainAndCompressed) {
  const base::TestFolder folder;
  const std::string text = "see you tomorrow\n我们明天\n";
  ASSERT_TRUE(base::write_file(folder.file("a.txt"), text));
  ASSERT_TRUE(base::write_file(folder.file("a.txt.zst"), compressed(text)));
  EXPECT_EQ(*read_text_file(folder.file("a.txt"), 1000), text);
  EXPECT_EQ(*read_text_file(folder.file("a.txt.zst"), 1000), text);
  EXPECT_EQ(read_text_file(folder.file("b.txt"), 1000).error().code, ErrorCode::Io);
}

TEST(TextFile, HoldsNoMoreThanItsLimit) {
  const base::TestFolder folder;
  const std::string text(1'000'000, 'a');
  ASSERT_TRUE(base::write_file(folder.file("a.zst"), compressed(text)));
  EXPECT_EQ(read_text_file(folder.file("a.zst"), 999'999).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(read_text_file(folder.file("a.zst"), 1'000'000)->size(), text.size());
}

TEST(TextFile, ASmallFileDoesNotFillMemory) {
  const std::string bomb = compressed(std::string(65u << 20, 'x'));
  ASSERT_LT(bomb.size(), 100'000u);
  // Frame after frame, each of them small: no size is declared for all of them.
  const std::string frame = compressed(std::string(1u << 20, 'x'));
  std::string frames;
  for (int i = 0; i < 65; ++i) frames += frame;
  for (const std::string& raw : {bomb, frames}) {
    EXPECT_EQ(decompressed(raw, "x", std::uint64_t{1} << 32).error().code, ErrorCode::TooLarge);
  }
}

TEST(TextFile, WhatIsNoZstdSaysSo) {
  const std::string whole = compressed("see you tomorrow, and the day after");
  EXPECT_EQ(decompressed("not zstd", "x", 1000).error().code, ErrorCode::Corrupt);
  EXPECT_EQ(
      decompressed(std::string_view(whole).substr(0, whole.size() / 2), "x", 1000).error().code,
      ErrorCode::Corrupt);
}

}  // namespace
}  // namespace laya::text

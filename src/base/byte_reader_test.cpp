#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace laya::base {
namespace {

constexpr std::array<std::byte, 8> kBytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                          std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};

TEST(ByteReader, ReadsLittleEndian) {
  ByteReader reader(kBytes);
  EXPECT_EQ(reader.u8("a"), 1u);
  EXPECT_EQ(reader.u16("b"), 0x0302u);
  EXPECT_EQ(reader.u32("c"), 0x07060504u);
  EXPECT_EQ(reader.left(), 1u);
  EXPECT_TRUE(reader.status("x"));
}

TEST(ByteReader, StaysFailedAndNamesTheFirstField) {
  ByteReader reader(kBytes);
  reader.u32("version");
  EXPECT_EQ(reader.u64("count"), 0u);
  EXPECT_EQ(reader.u8("next"), 0u) << "a failed reader reads zeros even where a byte is left";
  const Status status = reader.status("some.laya");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
  EXPECT_EQ(status.error().message, "some.laya: count at byte 4 does not fit: 4 bytes left");
}

TEST(ByteReader, HugeCountsCannotWrap) {
  for (const std::uint64_t count : {std::uint64_t{9}, std::numeric_limits<std::uint64_t>::max(),
                                    std::numeric_limits<std::uint64_t>::max() - 3}) {
    ByteReader reader(kBytes);
    reader.u32("skip");
    EXPECT_TRUE(reader.bytes(count, "blob").empty());
    EXPECT_TRUE(reader.failed());
    ByteReader seeker(kBytes);
    seeker.seek(count, "offset");
    EXPECT_TRUE(seeker.failed());
  }
}

TEST(ByteReader, SeeksUpToTheEnd) {
  ByteReader reader(kBytes);
  reader.seek(8, "end");
  EXPECT_FALSE(reader.failed());
  EXPECT_TRUE(reader.bytes(0, "nothing").empty());
  EXPECT_FALSE(reader.failed());
  reader.seek(6, "text");
  EXPECT_EQ(reader.text(2, "text"), "\x07\x08");
}

TEST(Fits, ComparesBySubtraction) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(fits(0, 8, 8));
  EXPECT_TRUE(fits(8, 0, 8));
  EXPECT_FALSE(fits(1, 8, 8));
  EXPECT_FALSE(fits(9, 0, 8));
  EXPECT_FALSE(fits(kMax, 2, 8));
  EXPECT_FALSE(fits(2, kMax, 8));
  EXPECT_TRUE(fits(0, kMax, kMax));
}

}  // namespace
}  // namespace laya::base

#include "format/element.h"

#include <gtest/gtest.h>

namespace laya::format {
namespace {

struct Case {
  const char* name;
  Layout layout;
  std::uint64_t want;
};

TEST(TensorBytes, FollowsTheFormulaOfFormatMd) {
  const Case cases[] = {
      {"f32 vector", {Element::F32, 1, 0, false, {7}}, 28},
      {"f16 4-d", {Element::F16, 4, 0, false, {2, 3, 4, 5}}, 240},
      {"u8", {Element::U8, 1, 0, false, {1}}, 1},
      // 1 block of 16 rows; 1 group: 32 bytes of scales, rounded up to 64; codes 64 × 16.
      {"int8 16x64 g64", {Element::PackedInt8, 2, 64, false, {16, 64}}, 64 + 1024},
      // 2 blocks; 40 columns pad to 64 = 2 groups of 32; scales and minima 2 × 2 × 32 = 128; codes
      // 64 × 16.
      {"int8 20x40 g32 minima", {Element::PackedInt8, 2, 32, true, {20, 40}}, 2 * (128 + 1024)},
      // 65 columns pad to 128 = 2 groups: 64 bytes of scales; codes 128 × 16 / 2.
      {"int4 16x65 g64", {Element::PackedInt4, 2, 64, false, {16, 65}}, 64 + 1024},
      {"int4 17x128 g128 minima", {Element::PackedInt4, 2, 128, true, {17, 128}}, 2 * (64 + 1024)},
      {"packed f16 5x6", {Element::PackedF16, 2, 0, false, {5, 6}}, 6 * 16 * 2},
      {"packed f16 17x3",
       {Element::PackedF16, 2, 0, false, {17, 3}},
       2 * 128},  // 96 bytes a block, padded
      {"packed f32 1x1", {Element::PackedF32, 2, 0, false, {1, 1}}, 64},
      {"the largest", {Element::U8, 1, 0, false, {0xFFFFFFFF}}, 0xFFFFFFFF},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<std::uint64_t> bytes = tensor_bytes(c.layout);
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(*bytes, c.want);
  }
}

struct Refusal {
  const char* name;
  Layout layout;
  ErrorCode want;
};

TEST(TensorBytes, RefusesImpossibleLayouts) {
  constexpr auto kMax = 0xFFFFFFFFu;
  const Refusal cases[] = {
      {"blob", {}, ErrorCode::BadArgument},
      {"unknown element", {static_cast<Element>(10), 1, 0, false, {1}}, ErrorCode::BadArgument},
      {"element 255", {static_cast<Element>(255), 1, 0, false, {1}}, ErrorCode::BadArgument},
      {"rank 0", {Element::F32, 0, 0, false, {}}, ErrorCode::BadArgument},
      {"rank 5", {Element::F32, 5, 0, false, {1, 1, 1, 1}}, ErrorCode::BadArgument},
      {"zero dimension", {Element::F32, 2, 0, false, {3, 0}}, ErrorCode::BadArgument},
      {"dimension beyond the rank", {Element::F32, 1, 0, false, {3, 1}}, ErrorCode::BadArgument},
      {"group 0", {Element::PackedInt8, 2, 0, false, {16, 64}}, ErrorCode::BadArgument},
      {"group 48", {Element::PackedInt4, 2, 48, false, {16, 64}}, ErrorCode::BadArgument},
      {"group of f32", {Element::F32, 1, 32, false, {16}}, ErrorCode::BadArgument},
      {"minima of packed f16", {Element::PackedF16, 2, 0, true, {16, 64}}, ErrorCode::BadArgument},
      {"packed vector", {Element::PackedInt8, 1, 64, false, {64}}, ErrorCode::BadArgument},
      {"packed cube", {Element::PackedInt8, 3, 64, false, {2, 2, 64}}, ErrorCode::BadArgument},
      {"too many rows",
       {Element::PackedInt8, 2, 64, false, {(1u << 24) + 1, 64}},
       ErrorCode::TooLarge},
      {"huge packed", {Element::PackedF32, 2, 0, false, {1u << 24, 1u << 24}}, ErrorCode::TooLarge},
      {"product that wraps",
       {Element::F32, 4, 0, false, {kMax, kMax, kMax, kMax}},
       ErrorCode::TooLarge},
      {"product that wraps to 0",
       {Element::U8, 4, 0, false, {1u << 31, 1u << 31, 4, 1}},
       ErrorCode::TooLarge},
      {"4 GiB and 4", {Element::F32, 1, 0, false, {(1u << 30) + 1}}, ErrorCode::TooLarge},
  };
  for (const Refusal& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<std::uint64_t> bytes = tensor_bytes(c.layout);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code, c.want) << bytes.error().message;
  }
}

TEST(ElementName, IsEmptyForUnknownNumbers) {
  EXPECT_EQ(element_name(Element::PackedInt4), "int4");
  EXPECT_EQ(element_name(Element::Bytes), "bytes");
  EXPECT_EQ(element_name(static_cast<Element>(200)), "");
}

}  // namespace
}  // namespace laya::format

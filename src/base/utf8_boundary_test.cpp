#include "base/utf8_boundary.h"

#include <gtest/gtest.h>

#include <array>

namespace laya::base {
namespace {

TEST(Utf8Boundary, StandsBesideWholeCharactersOnly) {
  constexpr std::string_view kText = "aé我🙂";  // at 0, 1, 3, 6; ends at 10
  constexpr std::array<std::size_t, 12> kFrom{0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 10};
  constexpr std::array<std::size_t, 12> kBefore{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  ASSERT_EQ(kText.size(), 10u);
  for (std::size_t at = 0; at < kFrom.size(); ++at) {
    EXPECT_EQ(boundary_from(kText, at), kFrom[at]) << at;
    EXPECT_EQ(boundary_before(kText, at), kBefore[at]) << at;
  }
  EXPECT_EQ(boundary_from("", 0), 0u);
  EXPECT_EQ(boundary_before("", 0), 0u);
}

TEST(Utf8Boundary, ContinuationBytesAre0x80To0xBf) {
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(is_continuation(static_cast<char>(byte)), byte >= 0x80 && byte <= 0xBF) << byte;
  }
}

}  // namespace
}  // namespace laya::base

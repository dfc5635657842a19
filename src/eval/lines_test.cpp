#include "eval/lines.h"

#include <gtest/gtest.h>

namespace laya::eval {
namespace {

TEST(Lines, LoseCarriageReturnsAndBlanks) {
  EXPECT_EQ(text_lines("a b\r\n\r\n \nc"), (std::vector<std::string>{"a b", "c"}));
}

TEST(Lines, AreChosenFromTheFirstAndNeverBlank) {
  const std::vector<std::string> lines{"a", "\u3000", "b", "c"};
  EXPECT_EQ(chosen_lines(lines, 2), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(chosen_lines(lines, 0).size(), 3U);
}

TEST(Lines, AreCutWherePythonCutsThem) {
  EXPECT_EQ(words_of(" see\tyou\u00A0at 5\u3000ok "),
            (std::vector<std::string_view>{"see", "you", "at", "5", "ok"}));
  EXPECT_TRUE(words_of("  ").empty());
}

}  // namespace
}  // namespace laya::eval

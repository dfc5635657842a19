#include "text/grapheme.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace laya::text {
namespace {

struct Case {
  const char* name;
  std::string text;
  std::vector<std::string> want;
  std::size_t width;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"letters", "ab", {"a", "b"}, 2},
      {"Han", "我爱", {"我", "爱"}, 4},
      {"accent as mark", "e\xCC\x81x", {"e\xCC\x81", "x"}, 2},
      {"family by ZWJ", "a👨‍👩‍👧b", {"a", "👨‍👩‍👧", "b"}, 4},
      {"skin tone", "👍🏽!", {"👍🏽", "!"}, 3},
      {"flags", "🇨🇳🇬🇧", {"🇨🇳", "🇬🇧"}, 4},
      {"heart with presentation", "❤️", {"❤️"}, 2},
      {"key cap", "1️⃣2", {"1️⃣", "2"}, 3},
      {"Hangul by parts", "\xE1\x84\x80\xE1\x85\xA1", {"\xE1\x84\x80\xE1\x85\xA1"}, 2},
      {"CR LF", "\r\n\n", {"\r\n", "\n"}, 0},
      {"ill-formed", "a\xFF\xE4\xBD", {"a", "\xFF", "\xE4", "\xBD"}, 4},
      {"full-width", "Ａ，", {"Ａ", "，"}, 4},
      {"empty", "", {}, 0},
  };
  return kCases;
}

TEST(Grapheme, WalksForwardAndBackByClusters) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    std::vector<std::string> forward;
    for (std::size_t at = 0; at < c.text.size();) {
      const std::size_t end = next_grapheme(c.text, at);
      forward.push_back(c.text.substr(at, end - at));
      at = end;
    }
    EXPECT_EQ(forward, c.want);
    std::vector<std::string> backward;
    for (std::size_t end = c.text.size(); end > 0;) {
      const std::size_t at = previous_grapheme(c.text, end);
      backward.insert(backward.begin(), c.text.substr(at, end - at));
      end = at;
    }
    EXPECT_EQ(backward, c.want);
    EXPECT_EQ(count_graphemes(c.text), c.want.size());
  }
}

TEST(Grapheme, MeasuresTerminalColumns) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(display_width(c.text), c.width);
  }
}

TEST(Grapheme, BackwardAgreesWithForwardOnAnyBytes) {
  const std::string parts[] = {"a",        "我",   "👨‍👩‍👧", "🇨🇳", "🇨",  "\xE2\x80\x8D",
                               "\xCC\x81", "\xFF", "\xF0\x9F",           "\r", "\n", "❤️",
                               " "};
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t i = random() % 12; i > 0; --i) {
      text += parts[random() % std::size(parts)];
    }
    std::vector<std::size_t> forward;
    for (std::size_t at = 0; at < text.size(); at = next_grapheme(text, at)) {
      forward.push_back(at);
    }
    std::vector<std::size_t> backward;
    for (std::size_t end = text.size(); end > 0;) {
      end = previous_grapheme(text, end);
      backward.insert(backward.begin(), end);
    }
    ASSERT_EQ(backward, forward) << testing::PrintToString(text);
  }
}

TEST(Grapheme, StaysInsideTheText) {
  EXPECT_EQ(next_grapheme("abc", 3), 3u);
  EXPECT_EQ(next_grapheme("abc", 9), 3u);
  EXPECT_EQ(previous_grapheme("abc", 0), 0u);
  EXPECT_EQ(previous_grapheme("abc", 9), 2u);
  std::string marks = "a";
  for (int i = 0; i < 5000; ++i) marks += "\xCC\x81";
  EXPECT_LT(previous_grapheme(marks, marks.size()), marks.size());
  EXPECT_EQ(next_grapheme(marks, 0), marks.size());
}

}  // namespace
}  // namespace laya::text

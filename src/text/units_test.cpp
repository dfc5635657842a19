#include "text/units.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace laya::text {
namespace {

std::string kinds_and_texts(std::string_view text) {
  std::string out;
  Unit unit{};
  for (std::size_t at = 0; next_unit(text, at, &unit); at = unit.end) {
    out += "EWHN@US"[static_cast<int>(unit.kind) == 0 ? 0
                     : unit.kind == UnitKind::Word    ? 1
                     : unit.kind == UnitKind::Han     ? 2
                     : unit.kind == UnitKind::Number  ? 3
                     : unit.kind == UnitKind::Email   ? 4
                     : unit.kind == UnitKind::Url     ? 5
                                                      : 6];
    std::string shown(text.substr(unit.begin, unit.end - unit.begin));
    out += unit.kind == UnitKind::LineEnd ? "" : shown;
    out += '|';
  }
  return out;
}

TEST(Units, CutsWordsHanNumbersSymbolsAndMarks) {
  struct Case {
    const char* in;
    const char* want;
  };
  const Case cases[] = {
      {"", ""},
      {"  \t ", ""},
      {"Don't  stop", "WDon't|Wstop|"},
      {"it’s", "Wit’s|"},
      {"'quoted' dogs' ", "S'|Wquoted|S'|Wdogs|S'|"},
      {"well-known e.g.", "Wwell|S-|Wknown|We|S.|Wg|S.|"},
      {"at 10:30pm", "Wat|N10|S:|N30|Wpm|"},
      {"我们 10 点 review", "H我|H们|N10|H点|Wreview|"},
      {"好。\n行！", "H好|S。|E|H行|S！|"},
      {"<EMAIL>, <URL>; <NUM> <b>", "@<EMAIL>|S,|U<URL>|S;|N<NUM>|S<|Wb|S>|"},
      {"café naïve", "Wcafé|Wnaïve|"},
      {"a×b", "Wa|S×|Wb|"},
      {"😀ok", "S😀|Wok|"},
      {"\xFFx\xE4\xB8", "S\xFF|Wx|S\xE4\xB8|"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.in);
    EXPECT_EQ(kinds_and_texts(c.in), c.want);
  }
}

TEST(Units, OnlyAWordOrNumberAtTheEndIsOpen) {
  const auto last_is_open = [](std::string_view text) {
    Unit unit{};
    for (std::size_t at = 0; next_unit(text, at, &unit); at = unit.end) {
    }
    return unit_is_open(text, unit);
  };
  EXPECT_TRUE(last_is_open("see you tom"));
  EXPECT_TRUE(last_is_open("at 10"));
  EXPECT_FALSE(last_is_open("see you "));
  EXPECT_FALSE(last_is_open("你好"));
  EXPECT_FALSE(last_is_open("stop."));
}

TEST(Units, LowerKeysFoldCaseAndApostrophe) {
  std::string out;
  append_lower("DON’T", &out);
  append_lower("ÀŽ", &out);
  append_lower("我\xFF", &out);
  EXPECT_EQ(out, "don'tàž我\xFF");
}

TEST(Units, CopyLowerNeverWritesHalfACodePoint) {
  char buffer[8];
  EXPECT_EQ(copy_lower("AÉÉ", buffer, 4), 3u);
  EXPECT_EQ(std::string_view(buffer, 3), "aé");
  EXPECT_EQ(copy_lower("abc", buffer, 0), 0u);
}

TEST(Units, AnyBytesAreCoveredInOrderAndLongWordsAreCut) {
  std::mt19937 random(7);
  const char alphabet[] = "aB' <1\n\xE6\x88\x91\xF0\x9F\x98\x80\xFF.";
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      text += alphabet[random() % (sizeof(alphabet) - 1)];
    }
    std::size_t at = 0;
    Unit unit{};
    while (next_unit(text, at, &unit)) {
      ASSERT_GE(unit.begin, at);
      ASSERT_GT(unit.end, unit.begin);
      ASSERT_LE(unit.end, text.size());
      Unit again{};
      ASSERT_TRUE(next_unit(text, unit.begin, &again));
      EXPECT_EQ(again.end, unit.end);
      EXPECT_EQ(again.kind, unit.kind);
      at = unit.end;
    }
  }
  const std::string letters(100000, 'x');
  std::size_t at = 0;
  Unit unit{};
  while (next_unit(letters, at, &unit)) {
    EXPECT_LE(unit.end - unit.begin, kMaxUnitBytes);
    at = unit.end;
  }
  EXPECT_EQ(at, letters.size());
}

}  // namespace
}  // namespace laya::text

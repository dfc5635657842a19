#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace laya::base {
namespace {

const std::string kHidden = "\xEF\xBF\xBD";

std::string utf8(char32_t c) {
  std::string out;
  append_utf8(c, out);
  return out;
}

TEST(Printable, LetsNothingMoveTheCursorOrHide) {
  for (const char32_t c :
       {0x00,    0x07,    0x1B,    0x0D,    0x7F,    0x80,    0x9B,    0xAD,   0x061C,
        0x115F,  0x180E,  0x200B,  0x200E,  0x200F,  0x2028,  0x2029,  0x202A, 0x202E,
        0x2060,  0x2066,  0x2069,  0x206F,  0x3164,  0xFEFF,  0xFFA0,  0xFFF9, 0xFFFF,
        0xE0001, 0xE0020, 0xE0041, 0xE007F, 0xE0FFF, 0x1D173, 0x10FFFF}) {
    EXPECT_TRUE(is_deceptive(c)) << std::hex << static_cast<unsigned>(c);
    EXPECT_EQ(printable("a" + utf8(c) + "b"), "a" + kHidden + "b");
  }
  EXPECT_EQ(printable("\x1b[2Ja"), kHidden + "[2Ja");
  EXPECT_EQ(printable("one\ntwo\tthree"), "one⏎two three");
  EXPECT_EQ(printable("\xFFz\xE6\x88"), kHidden + "z" + kHidden);
}

TEST(Printable, LeavesWhatPeopleWrite) {
  for (const std::string text :
       {"plain, 我们 é ‑ … ✓", "👨‍👩‍👧", "❤️", "می‌خواهم",
        "\xF0\x9F\x8F\xB4\xF3\xA0\x81\xA7\xF3\xA0\x81\xA2\xF3\xA0\x81\xA5"
        "\xF3\xA0\x81\xAE\xF3\xA0\x81\xA7\xF3\xA0\x81\xBF"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, JoinersDoNotHideBetweenLatinLetters) {
  EXPECT_EQ(printable("ge‍mma"), "ge" + kHidden + "mma");
  EXPECT_EQ(printable("ge‌mma️"), "ge" + kHidden + "mma" + kHidden);
}

TEST(Printable, TheSameTextInPiecesIsTheSame) {
  const std::string text = "我\x1b[31m\n👨‍👩‍👧\xFF\xE6\x88";
  std::string whole, pieces;
  PrintableFilter one(PrintableFilter::Lines::Kept), many(PrintableFilter::Lines::Kept);
  one.feed(text, whole);
  one.finish(whole);
  for (const char byte : text) many.feed({&byte, 1}, pieces);
  many.finish(pieces);
  EXPECT_EQ(pieces, whole);
  EXPECT_EQ(whole, "我" + kHidden + "[31m\n👨‍👩‍👧" + kHidden + kHidden);
}

TEST(Printable, JsonStaysTheSameDocument) {
  EXPECT_EQ(printable_json("{\"a\":\"x\xE2\x80\xAEy我\xF3\xA0\x81\x81\"}\n"),
            "{\"a\":\"x\\u202ey我\\udb40\\udc41\"}\n");
}

}  // namespace
}  // namespace laya::base

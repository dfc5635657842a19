#include "text/normalize.h"

#include <gtest/gtest.h>

namespace laya::text {
namespace {

TEST(Normalize, ComposesToFormC) {
  struct Case {
    const char* name;
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"ASCII", "plain text\n", "plain text\n"},
      {"accent", "cafe\xCC\x81", "café"},
      {"already composed", "café", "café"},
      {"order of marks", "q\xCC\x87\xCC\xA3",
       "q\xCC\xA3\xCC\x87"},  // U+0307 U+0323, UAX 15 table 4
      {"Hangul", "\xE1\x84\x80\xE1\x85\xA1", "가"},
      {"Han untouched", "我爱你", "我爱你"},
      {"compatibility ideograph", "\xEF\xA4\x80", "豈"},
      {"full-width stays (not NFKC)", "ＡＢ１", "ＡＢ１"},
      {"ligature stays (not NFKC)", "ﬁ", "ﬁ"},
      {"emoji", "👨‍👩‍👧", "👨‍👩‍👧"},
      {"ill-formed bytes stay",
       "e\xCC\x81\xFF"
       "e\xCC\x81\xE4\xBD",
       "é\xFFé\xE4\xBD"},
      {"a mark behind an ill-formed byte", "e\xFF\xCC\x81", "e\xFF\xCC\x81"},
      {"NUL", std::string("e\xCC\x81\0x", 5), std::string("é\0x", 4)},
      {"empty", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(normalize_nfc(c.text), c.want);
    EXPECT_EQ(is_nfc(c.text), c.text == c.want);
    EXPECT_TRUE(is_nfc(c.want));
  }
}

TEST(Normalize, ChangesNothingTwice) {
  const std::string text = "Ame\xCC\x81lie \xE1\x84\x80\xE1\x85\xA1 \xEF\xA4\x80 a\xCC\x8A\xCC\x81";
  EXPECT_EQ(normalize_nfc(normalize_nfc(text)), normalize_nfc(text));
}

}  // namespace
}  // namespace laya::text

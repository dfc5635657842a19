#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace laya::base {
namespace {

TEST(Utf8, DecodesEveryCodePointThatItEncodes) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) {
      continue;
    }
    std::string bytes;
    append_utf8(c, bytes);
    const Decoded decoded = decode_utf8(bytes);
    ASSERT_EQ(decoded.status, Utf8Status::Valid) << std::hex << static_cast<std::uint32_t>(c);
    ASSERT_EQ(decoded.code_point, c);
    ASSERT_EQ(decoded.length, bytes.size());
    ASSERT_EQ(previous_code_point(bytes, bytes.size()), 0u);
  }
}

TEST(Utf8, NeverEncodesSurrogatesOrBeyondTheLastPlane) {
  for (char32_t c :
       {char32_t{0xD800}, char32_t{0xDFFF}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) {
    std::string bytes;
    append_utf8(c, bytes);
    EXPECT_EQ(bytes, "\xEF\xBF\xBD");
  }
}

struct Case {
  const char* name;
  std::string in;
  Utf8Status status;
  std::uint8_t length;
};

TEST(Utf8, ClassifiesIllFormedAndHalfSequencesAsTheStandardDoes) {
  const Case cases[] = {
      {"empty", "", Utf8Status::Incomplete, 0},
      {"lone continuation", "\x80", Utf8Status::Invalid, 1},
      {"overlong C0", "\xC0\xAF", Utf8Status::Invalid, 1},
      {"overlong C1", "\xC1\xBF", Utf8Status::Invalid, 1},
      {"overlong E0", "\xE0\x9F\xBF", Utf8Status::Invalid, 1},
      {"overlong F0", "\xF0\x8F\xBF\xBF", Utf8Status::Invalid, 1},
      {"surrogate", "\xED\xA0\x80", Utf8Status::Invalid, 1},
      {"beyond", "\xF4\x90\x80\x80", Utf8Status::Invalid, 1},
      {"F5", "\xF5\x80\x80\x80", Utf8Status::Invalid, 1},
      {"FF", "\xFF", Utf8Status::Invalid, 1},
      {"broken third byte", "\xE4\xBD\x41", Utf8Status::Invalid, 2},
      {"broken fourth byte", "\xF0\x9F\x98\x41", Utf8Status::Invalid, 3},
      {"1 of 2", "\xC3", Utf8Status::Incomplete, 1},
      {"1 of 3", "\xE4", Utf8Status::Incomplete, 1},
      {"2 of 3", "\xE4\xBD", Utf8Status::Incomplete, 2},
      {"3 of 4", "\xF0\x9F\x98", Utf8Status::Incomplete, 3},
      {"2 of 3, already wrong", "\xE0\x80", Utf8Status::Invalid, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Decoded decoded = decode_utf8(c.in);
    EXPECT_EQ(decoded.status, c.status);
    EXPECT_EQ(decoded.length, c.length);
    EXPECT_EQ(decoded.code_point, kReplacementCharacter);
    EXPECT_EQ(is_valid_utf8(c.in), c.in.empty());
  }
}

TEST(Utf8, HoldsBackExactlyTheHalfSequenceAtTheEnd) {
  const std::string text = "a你😀";  // 1 + 3 + 4 bytes
  const std::size_t want[] = {0, 1, 1, 1, 4, 4, 4, 4, 8};
  for (std::size_t n = 0; n <= text.size(); ++n) {
    EXPECT_EQ(complete_utf8_length(std::string_view(text).substr(0, n)), want[n]) << n;
  }
  EXPECT_EQ(complete_utf8_length("\x80\x80\x80\x80"), 4u);  // nothing could complete these
  EXPECT_EQ(complete_utf8_length("a\xFF"), 2u);
  EXPECT_EQ(complete_utf8_length("a\xE0\x80"), 3u);  // ill-formed already, not incomplete
}

TEST(Utf8, TextArrivingInAnyPiecesComesOutWhole) {
  const std::string text = "wǒ 你好, naïve 😀👍🏽 end";
  for (std::size_t piece = 1; piece <= 7; ++piece) {
    std::string held;
    std::string out;
    for (std::size_t i = 0; i < text.size(); i += piece) {
      held += text.substr(i, piece);
      const std::size_t ready = complete_utf8_length(held);
      ASSERT_TRUE(is_valid_utf8(held.substr(0, ready)));
      out += held.substr(0, ready);
      held.erase(0, ready);
      ASSERT_LE(held.size(), 3u);
    }
    EXPECT_EQ(out, text);
    EXPECT_TRUE(held.empty());
  }
}

TEST(Utf8, ReplacesEachIllFormedPartOnce) {
  EXPECT_EQ(replace_invalid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(replace_invalid_utf8("a\xF0\x9F\x98z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("\xE4\xBD"), "\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("你好"), "你好");
}

TEST(Utf8, CountsAndWalksBackOverAnyBytes) {
  EXPECT_EQ(count_code_points("a你😀\xFF"), 4u);
  const std::string text = "a你😀\xFF\xBF";
  std::size_t at = text.size();
  std::size_t steps = 0;
  while (at > 0) {
    const std::size_t before = previous_code_point(text, at);
    ASSERT_LT(before, at);
    at = before;
    ++steps;
  }
  EXPECT_EQ(steps, 5u);
}

TEST(Utf8, EveryByteStringOfThreeIsConsumedWithoutReadingBeyond) {
  // Under AddressSanitizer the exact-size heap buffer makes one byte too many a failure.
  for (unsigned i = 0; i < (1u << 24); i += 251) {
    const std::string bytes = {static_cast<char>(i), static_cast<char>(i >> 8),
                               static_cast<char>(i >> 16)};
    const std::string heap(bytes);
    std::size_t consumed = 0;
    for (const Decoded& decoded : CodePoints(heap)) {
      ASSERT_GE(decoded.length, 1);
      consumed += decoded.length;
    }
    ASSERT_EQ(consumed, 3u);
    ASSERT_TRUE(is_valid_utf8(replace_invalid_utf8(heap)));
  }
}

}  // namespace
}  // namespace laya::base

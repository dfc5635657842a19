#include "predict/source/casing.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace laya::predict {
namespace {

std::string rest(std::string_view typed, std::string_view display,
                 SentenceStart start = SentenceStart::No) {
  std::array<char, 64> out;
  return std::string(out.data(), write_rest(typed, display, start, out));
}

TEST(Casing, KeepsWhatWasTypedAndTakesTheUsualFormForTheRest) {
  EXPECT_EQ(rest("tom", "tomorrow"), "orrow");
  EXPECT_EQ(rest("Tom", "tomorrow"), "orrow");
  EXPECT_EQ(rest("lon", "London"), "don");
  EXPECT_EQ(rest("i", "I'm"), "'m");
  EXPECT_EQ(rest("", "London"), "London");
}

// Complaint 7: a sentence start raises one letter, never all.
TEST(Casing, SentenceStartRaisesOneLetterOnly) {
  EXPECT_EQ(rest("", "here", SentenceStart::Yes), "Here");
  EXPECT_EQ(rest("", "élan", SentenceStart::Yes), "Élan");
  EXPECT_EQ(rest("h", "here", SentenceStart::Yes), "ere");  // typed case is kept
  EXPECT_EQ(rest("", "iPhone", SentenceStart::Yes), "IPhone");
}

TEST(Casing, WritesCapitalsOnlyWhereTwoWereTyped) {
  EXPECT_EQ(rest("TO", "tomorrow"), "MORROW");
  EXPECT_EQ(rest("T", "tomorrow"), "omorrow");
  EXPECT_EQ(rest("To", "tomorrow"), "morrow");
  EXPECT_FALSE(is_all_caps("I"));
  EXPECT_FALSE(is_all_caps("I'"));
  EXPECT_TRUE(is_all_caps("US"));
  EXPECT_FALSE(is_all_caps(""));
}

TEST(Casing, NeverWritesHalfACharacter) {
  std::array<char, 4> out;
  EXPECT_EQ(write_rest("caf", "café", SentenceStart::No, std::span(out).first(1)), 0U);
  EXPECT_EQ(write_rest("caf", "café", SentenceStart::No, std::span(out).first(2)), 2U);
}

}  // namespace
}  // namespace laya::predict

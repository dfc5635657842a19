#include "train/text/overlap.h"

#include <gtest/gtest.h>

namespace laya::train {
namespace {

HeldOut held_out() {
  HeldOut lines;
  lines.add("ok thanks\nthe meeting is at three\n我明天下午三点半要去机场接一个人\n", "dev.txt");
  return lines;
}

TEST(HeldOut, RefusesALineThatStandsInDev) {
  const Status status = held_out().check(
      "hello\n\n  the meeting is at three \nthe meeting is at three\n", "train.txt");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::BadArgument);
  const std::string& message = status.error().message;
  for (const char* part :
       {"train.txt: line 3", "dev.txt, line 2", "(2 such lines", "drop_held_out"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(message.find("meeting"), std::string::npos) << "text must not stand in errors";
}

TEST(HeldOut, CountsCharactersNotBytes) {
  EXPECT_FALSE(held_out().check("我明天下午三点半要去机场接一个人", "t").has_value());
  HeldOut lines;
  lines.add("我在家吃饭了", "dev.txt");  // 18 bytes, 6 characters
  EXPECT_TRUE(lines.check("我在家吃饭了", "t").has_value());
}

TEST(HeldOut, ShortLinesMayRepeat) {
  EXPECT_TRUE(held_out().check("ok thanks\nok thanks\n", "t").has_value());
}

TEST(HeldOut, ContainsWhatCheckRefuses) {
  EXPECT_TRUE(held_out().contains("the meeting is at three"));
  EXPECT_TRUE(held_out().contains(" the meeting is at three\r"));
  EXPECT_FALSE(held_out().contains("the meeting is at four"));
  EXPECT_FALSE(held_out().contains("ok thanks"));
}

TEST(HeldOut, FingerprintIsOfTheSetNotTheOrder) {
  HeldOut a, b, c;
  a.add("the first long line\nthe second long line\n", "f");
  b.add("the second long line\nthe first long line\nthe first long line\n", "f");
  c.add("the first long line\n", "f");
  EXPECT_EQ(a.fingerprint(), b.fingerprint());
  EXPECT_NE(a.fingerprint(), c.fingerprint());
}

}  // namespace
}  // namespace laya::train

#include "text/chunk.h"

#include <gtest/gtest.h>

#include <string>

namespace laya::text {
namespace {

std::string cut(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Chunk chunk = next_chunk(text);
    out += std::string(text.substr(0, chunk.length)) + "|";
    text.remove_prefix(chunk.length);
  }
  return out;
}

TEST(Chunk, CutsWhereThePieceRulesSay) {
  struct Case {
    const char* name;
    std::string text;
    std::string want;
  };
  const Case cases[] = {
      {"words keep one space", "the cat sat", "the |cat |sat|"},
      {"second space alone", "a  b   c", "a | |b | | |c|"},
      {"leading spaces", "  a", " | |a|"},
      {"Han one by one", "我爱你", "我|爱|你|"},
      {"Han with space", "我 爱", "我 |爱|"},
      {"mixed", "用Python写, ok", "用|Python|写|, |ok|"},
      {"CJK punctuation", "你好，世界。", "你|好|，|世|界|。|"},
      {"newline takes no space", "a\n b\n", "a|\n| |b|\n|"},
      {"tab and CR", "a\tb\r\n", "a|\t|b|\r|\n|"},
      {"emoji run", "ok👍🏽 y", "ok👍🏽 |y|"},
      {"ill-formed bytes", "a\xFF\xE4\xBD b", "a\xFF\xE4\xBD |b|"},
      {"NUL", std::string("a\0b", 3), std::string("a|\0|b|", 6)},
      {"rare ideographs", "𠮷々〇", "𠮷|々|〇|"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(cut(c.text), c.want);
  }
}

TEST(Chunk, BoundsARunAtACharacter) {
  const std::string text = std::string(255, 'x') + "é" + std::string(300, 'y') + " ";
  const Chunk first = next_chunk(text);
  EXPECT_EQ(first.length, 255u);  // é would end at 257
  EXPECT_TRUE(is_open(first));
  const Chunk second = next_chunk(std::string_view(text).substr(255));
  EXPECT_EQ(second.length, 256u);
  const Chunk full = next_chunk(std::string(256, 'z') + " ");
  EXPECT_EQ(full.length, kMaxChunkBytes);
  EXPECT_FALSE(is_open(full));
}

TEST(Chunk, OnlyARunWithoutItsSpaceIsOpen) {
  EXPECT_TRUE(is_open(next_chunk("hel")));
  EXPECT_FALSE(is_open(next_chunk("hello ")));
  EXPECT_FALSE(is_open(next_chunk("我")));
  EXPECT_FALSE(is_open(next_chunk("，")));
  EXPECT_FALSE(is_open(next_chunk("\n")));
  EXPECT_FALSE(is_open(next_chunk(" ")));
}

}  // namespace
}  // namespace laya::text

#include "train/lexicon/block_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace laya::train {
namespace {

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A chat of `lines` lines, in which one friend is addressed in the first tenth only, and slang is
// everywhere.
std::string chat() {
  std::string text;
  for (int i = 0; i < 640; ++i) {
    text += i < 64 ? "Zorbo come here lah\n" : "come here lah\n";
  }
  return text + "seeit thr\n";
}

TEST(BlockWords, NamesAndGluedWordsOfAChatAreJunkAndItsSlangIsNot) {
  BlockWords words({});
  words.add_dictionary("come/DG\nhere\nsee\nit\n");
  words.add_text(chat(), TextKind::Messages);
  const auto junk = words.junk();
  EXPECT_TRUE(holds(junk, "zorbo"));
  EXPECT_TRUE(holds(junk, "seeit"));
  EXPECT_TRUE(holds(junk, "thr"));
  EXPECT_FALSE(holds(junk, "lah"));
  EXPECT_FALSE(holds(junk, "come"));
  EXPECT_EQ(junk.size(), 3U);
  EXPECT_EQ(words.words(), 6U);
}

TEST(BlockWords, WhoeverVouchesForAWordClearsIt) {
  BlockWords published({});
  published.add_text(chat(), TextKind::Messages);
  published.add_text("Zorbo the clown. Zorbo!", TextKind::Published);
  EXPECT_FALSE(holds(published.junk(), "zorbo"));

  BlockWords once({});
  once.add_text(chat(), TextKind::Messages);
  once.add_text("Zorbo the clown.", TextKind::Published);
  EXPECT_TRUE(holds(once.junk(), "zorbo")) << "once may be a slip";
  once.add_text("hi zorbo", TextKind::Messages);
  EXPECT_FALSE(holds(once.junk(), "zorbo")) << "three texts know it";

  BlockWords dictionary({});
  dictionary.add_text("Zorbo's zorbo's", TextKind::Messages);
  EXPECT_TRUE(holds(dictionary.junk(), "zorbo's"));
  dictionary.add_dictionary("Zorbo");
  EXPECT_TRUE(dictionary.junk().empty());
}

TEST(BlockWords, SingleLettersAreNoJunk) {
  BlockWords words({});
  words.add_text("x é zq", TextKind::Messages);
  EXPECT_EQ(words.junk(), std::vector<std::string>{"zq"});
}

}  // namespace
}  // namespace laya::train

#include "train/lexicon/lexicon_builder.h"

#include <gtest/gtest.h>

#include <map>

namespace laya::train {
namespace {

bool is_word(std::string_view key, WordCount count) {
  static const std::map<std::string, double, std::less<>> kListed = {
      {"receive", 500}, {"the", 90000}, {"isn't", 300},
      {"at", 9000},     {"least", 800}, {"file", 900}};
  return is_found_word(key, count, [&](std::string_view word) {
    const auto at = kListed.find(word);
    return at == kListed.end() ? 0.0 : at->second;
  });
}

TEST(LexiconBuilder, TakesWordsThatSeveralTextsUse) {
  EXPECT_TRUE(is_word("github", {40, 60, 4, 0}));
  EXPECT_FALSE(is_word("github", {2, 3, 1, 0}));
  EXPECT_FALSE(is_word("github", {40, 20, 1, 0}));  // one writer's
}

TEST(LexiconBuilder, RefusesSlipsOfFrequentWords) {
  EXPECT_FALSE(is_word("recieve", {10, 20, 3, 0}));
  EXPECT_FALSE(is_word("teh", {100, 100, 5, 0}));
  EXPECT_FALSE(is_word("isnt", {100, 100, 5, 0}));
  EXPECT_TRUE(is_word("received", {400, 400, 5, 0}));  // too frequent for a slip
}

TEST(LexiconBuilder, RefusesTwoWordsWithoutTheirSpace) {
  EXPECT_FALSE(is_word("atleast", {60, 60, 5, 800}));
  EXPECT_TRUE(is_word("filesystem", {60, 60, 5, 70}));
}

TEST(LexiconBuilder, SaysWhatIsMissing) {
  const auto build = build_lexicon("no-such-folder", {}, {}, [](std::string_view, double) {});
  ASSERT_FALSE(build);
  EXPECT_NE(build.error().message.find("scowl"), std::string::npos);
}

}  // namespace
}  // namespace laya::train

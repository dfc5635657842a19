#include "pinyin/paths.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pinyin/test_lexicon.h"

namespace laya::pinyin {
namespace {

const Lexicon& lexicon() {
  static const Lexicon words = make_lexicon(everyday_words());
  return words;
}

void type(Paths* paths, std::string_view letters) {
  for (const char letter : letters) paths->push(letter);
}

/// Words that end at the last letter, "start:word", sorted.
std::vector<std::string> words_of(std::span<const Path> paths) {
  std::vector<std::string> found;
  for (const Path& path : paths) {
    const Node& node = lexicon().node(path.node);
    for (WordIndex i = 0; i < node.words; ++i) {
      found.push_back(std::to_string(path.start) + ":" +
                      std::string(lexicon().text(lexicon().word(node.first_word + i))));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Paths, FindWordsThatEndHere) {
  Paths paths(lexicon());
  type(&paths, "nihao");
  const auto words = words_of(paths.here());
  EXPECT_TRUE(holds(words, "0:你好"));
  EXPECT_TRUE(holds(words, "2:好"));
  EXPECT_FALSE(holds(words, "0:你"));
}

TEST(Paths, CutAmbiguousLettersBothWays) {
  Paths paths(lexicon());
  type(&paths, "xian");
  const auto words = words_of(paths.here());
  EXPECT_TRUE(holds(words, "0:西安"));
  EXPECT_TRUE(holds(words, "0:先"));
  EXPECT_TRUE(holds(words, "2:安"));
}

TEST(Paths, KeepSyllablesApartAtAnApostrophe) {
  Paths paths(lexicon());
  type(&paths, "xi'an");
  const auto words = words_of(paths.here());
  EXPECT_TRUE(holds(words, "0:西安"));
  EXPECT_FALSE(holds(words, "0:先"));
}

TEST(Paths, TakeInitialsForSyllables) {
  Paths paths(lexicon());
  type(&paths, "zhg");
  EXPECT_TRUE(holds(words_of(paths.here()), "0:中国"));
  for (const Path& path : paths.here()) {
    EXPECT_TRUE(path.start != 0 || path.shortened == 2) << path.node;
  }
  paths.clear();
  type(&paths, "zg");
  EXPECT_TRUE(holds(words_of(paths.here()), "0:中国"));
}

TEST(Paths, OfferTheUnfinishedSyllable) {
  Paths paths(lexicon());
  type(&paths, "nizho");
  EXPECT_TRUE(words_of(paths.here()).empty());
  EXPECT_EQ(words_of(paths.open()), std::vector<std::string>{"2:中"});
}

TEST(Paths, DoNotCrossLiteralLetters) {
  Paths paths(lexicon());
  type(&paths, "woKTVla");
  EXPECT_TRUE(holds(words_of(paths.here()), "5:啦"));
  for (const Path& path : paths.here()) EXPECT_GE(path.start, 5);
  EXPECT_TRUE(paths.is_literal(2));
  EXPECT_FALSE(paths.is_literal(0));
}

TEST(Paths, AreTheSameAfterALetterWasTakenBack) {
  Paths typed(lexicon());
  Paths edited(lexicon());
  const std::string_view letters = "womenmingtianquzhongguo";
  for (std::size_t i = 0; i < letters.size(); ++i) {
    typed.push(letters[i]);
    edited.push('x');
    edited.push('i');
    edited.pop();
    edited.pop();
    edited.push(letters[i]);
    EXPECT_EQ(words_of(typed.here()), words_of(edited.here())) << i;
    EXPECT_EQ(words_of(typed.open()), words_of(edited.open())) << i;
  }
}

TEST(Paths, AreBoundedWhateverIsTyped) {
  Paths paths(lexicon());
  for (std::size_t i = 0; i < 2 * Paths::kMaxLetters; ++i) {
    paths.push(i % 2 == 0 ? 'z' : 'h');
    EXPECT_LE(paths.here().size(), Paths::kMaxPaths);
  }
  EXPECT_EQ(paths.letters().size(), Paths::kMaxLetters);
  for (std::size_t i = 0; i < 2 * Paths::kMaxLetters; ++i) paths.pop();
  EXPECT_TRUE(paths.letters().empty());
  EXPECT_TRUE(paths.here().empty());
}

}  // namespace
}  // namespace laya::pinyin

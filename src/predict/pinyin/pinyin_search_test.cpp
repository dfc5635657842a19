#include "predict/pinyin/pinyin_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "pinyin/test_lexicon.h"
#include "predict/session/test_engine.h"

namespace laya::predict {
namespace {

const PinyinModel& everyday() {
  static const PinyinModel model(full_engine(),
                                 {pinyin::make_lexicon(pinyin::everyday_words()), nullptr});
  return model;
}

/// A hundred characters for each of four syllables, so that every letter names as many texts as a
/// letter may.
const PinyinModel& crowded() {
  static const PinyinModel model = [] {
    std::vector<std::string> texts;
    for (char32_t i = 0; i < 400; ++i) base::append_utf8(0x4E00 + i, texts.emplace_back());
    std::vector<pinyin::TestWord> words;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      constexpr std::array<std::string_view, 4> kSpellings{"a", "e", "sa", "se"};
      words.push_back({kSpellings[i % 4], texts[i], -5 - 0.01F * static_cast<float>(i)});
    }
    return PinyinModel(full_engine(), {pinyin::make_lexicon(words), nullptr});
  }();
  return model;
}

void type(PinyinSearch& search, std::string_view letters) {
  for (const char letter : letters) ASSERT_TRUE(search.push(letter)) << search.letters().size();
}

std::string text_of(const PinyinSearch& search, const PinyinHypothesis& hypothesis) {
  std::string text;
  search.append_text(hypothesis, &text);
  return text;
}

std::vector<std::string> texts_of(const PinyinSearch& search) {
  std::vector<std::string> texts;
  for (const PinyinHypothesis& one : search.best()) texts.push_back(text_of(search, one));
  return texts;
}

std::vector<std::string> texts_for(const PinyinModel& model, std::string_view letters) {
  PinyinSearch search(model);
  EXPECT_TRUE(search.set_context(""));
  type(search, letters);
  return texts_of(search);
}

bool holds(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

std::string repeated(std::string_view part, std::size_t letters) {
  std::string all;
  while (all.size() < letters) all += part;
  return all.substr(0, letters);
}

TEST(PinyinSearch, ReadsEveryCutIntoSyllables) {
  const auto texts = texts_for(everyday(), "xian");
  EXPECT_TRUE(holds(texts, "先"));
  EXPECT_TRUE(holds(texts, "西安"));
  const auto cut = texts_for(everyday(), "xi'an");
  EXPECT_TRUE(holds(cut, "西安"));
  EXPECT_FALSE(holds(cut, "先")) << "an apostrophe ends the syllable";
}

TEST(PinyinSearch, ReadsInitialsAndUnfinishedSyllablesAtAPrice) {
  PinyinSearch search(everyday());
  ASSERT_TRUE(search.set_context(""));
  type(search, "zhg");
  const auto texts = texts_of(search);
  const auto at = std::find(texts.begin(), texts.end(), "中国");
  ASSERT_NE(at, texts.end());
  EXPECT_LT(search.best()[static_cast<std::size_t>(at - texts.begin())].penalty, 0);
  EXPECT_TRUE(holds(texts_for(everyday(), "nihaozho"), "你好中"));
}

TEST(PinyinSearch, OrdersByTheWholeScoreEveryTextOnce) {
  PinyinSearch search(everyday());
  ASSERT_TRUE(search.set_context("我"));
  type(search, "womenmingtianqu");
  const auto best = search.best();
  ASSERT_GT(best.size(), 1U);
  const auto texts = texts_of(search);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
  const PinyinWeights& weights = search.weights();
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_GE(best[i == 0 ? 0 : i - 1].total, best[i].total);
    if (best[i].last != pinyin::LastSyllable::Whole) continue;
    EXPECT_FLOAT_EQ(best[i].total, weights.words * best[i].words +
                                       weights.characters * best[i].characters + best[i].penalty +
                                       weights.english * static_cast<float>(best[i].english_words));
  }
}

TEST(PinyinSearch, LeavesCapitalsAndSignsAsTheyAre) {
  for (const std::string& text : texts_for(everyday(), "woquKTV")) {
    EXPECT_TRUE(text.ends_with("KTV")) << text;
  }
  EXPECT_EQ(texts_for(everyday(), "42"), std::vector<std::string>{"42"});
}

TEST(PinyinSearch, WorksWithoutNetworkAndWithoutTable) {
  for (const Engine* engine : {&table_engine(), &network_engine()}) {
    const PinyinModel model(*engine, {pinyin::make_lexicon(pinyin::everyday_words()), nullptr});
    EXPECT_TRUE(holds(texts_for(model, "nihao"), "你好"));
  }
}

TEST(PinyinSearch, TakingALetterBackLeavesWhatWasThereBefore) {
  PinyinSearch search(everyday());
  ASSERT_TRUE(search.set_context(""));
  search.pop();
  EXPECT_TRUE(search.best().empty());
  type(search, "nihao");
  const auto before = texts_of(search);
  type(search, "ming");
  for (int i = 0; i < 4; ++i) search.pop();
  EXPECT_EQ(search.letters(), "nihao");
  EXPECT_EQ(texts_of(search).front(), before.front());
  for (int i = 0; i < 5; ++i) search.pop();
  EXPECT_TRUE(search.letters().empty());
  EXPECT_TRUE(search.best().empty());
}

// Whatever letters come, each ends; what is beyond the limit is refused and changes nothing.
TEST(PinyinSearch, EndsForAnyLettersOfAnyNumber) {
  struct Case {
    const PinyinModel* model;
    std::string_view part;
    std::size_t count;
  };
  const std::array<Case, 7> cases{{{&everyday(), "woxiang", 500},
                                   {&everyday(), "s", 1000},
                                   {&everyday(), "zh", 1000},
                                   {&everyday(), "bpmfdtnlgkhjqxzcsryw", 1000},
                                   {&everyday(), "tomorrow", 1000},
                                   {&everyday(), "aS'", 1000},
                                   {&crowded(), "aesase", 100000}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.part);
    PinyinSearch search(*one.model);
    ASSERT_TRUE(search.set_context(""));
    const std::string letters = repeated(one.part, one.count);
    std::size_t taken = 0;
    for (const char letter : letters) {
      const Status done = search.push(letter);
      ASSERT_EQ(done.has_value(), taken < PinyinSearch::kMaxLetters) << taken;
      ASSERT_TRUE(done || done.error().code == ErrorCode::TooLarge);
      taken += done ? 1 : 0;
      ASSERT_LE(search.network()->nodes(), PinyinNetwork::kMaxNodes);
    }
    EXPECT_EQ(search.letters(), letters.substr(0, taken));
    ASSERT_FALSE(search.best().empty());
    EXPECT_FALSE(texts_of(search).front().empty());
  }
}

// The tree fills, and gives back what nothing needs: the answer is the same as with an empty one.
TEST(PinyinSearch, MakesRoomInTheTreeWithoutForgettingAnything) {
  PinyinSearch search(crowded());
  PinyinSearch straight(crowded());
  ASSERT_TRUE(search.set_context(""));
  ASSERT_TRUE(straight.set_context(""));
  const std::string_view letters = "asaesea";
  type(search, letters);
  bool made_room = false;
  for (unsigned i = 0; !made_room; ++i) {
    ASSERT_LT(i, 1000U) << "the tree never fills: nothing is tested";
    const std::size_t nodes = search.network()->nodes();
    for (unsigned bit = 0; bit < 10; ++bit) type(search, (i >> bit & 1) != 0 ? "a" : "e");
    made_room = search.network()->nodes() < nodes;
    while (search.letters().size() > letters.size()) search.pop();
  }
  type(search, "saes");
  type(straight, std::string(letters) + "saes");
  EXPECT_EQ(texts_of(search), texts_of(straight));
  ASSERT_EQ(search.best().size(), straight.best().size());
  for (std::size_t i = 0; i < search.best().size(); ++i) {
    EXPECT_NEAR(search.best()[i].total, straight.best()[i].total, 1e-3);
  }
}

TEST(PinyinSearch, AnswersAfterManyLettersWereTakenBack) {
  PinyinSearch search(everyday());
  PinyinSearch straight(everyday());
  ASSERT_TRUE(search.set_context(""));
  ASSERT_TRUE(straight.set_context(""));
  const std::string letters = repeated("womenmingtianqu", PinyinSearch::kMaxLetters);
  type(search, letters);
  while (search.letters().size() > 450) search.pop();
  type(search, "nihao");
  type(straight, letters.substr(0, 450) + "nihao");
  EXPECT_EQ(texts_of(search).front(), texts_of(straight).front());
  EXPECT_NEAR(search.best().front().total, straight.best().front().total, 0.01);
}

TEST(PinyinSearch, TakesNoLetterWhenCancelledAndGoesOnAfterwards) {
  PinyinSearch search(everyday());
  PinyinSearch straight(everyday());
  ASSERT_TRUE(search.set_context("我"));
  ASSERT_TRUE(straight.set_context("我"));
  base::CancelFlag cancel;
  type(search, "niha");
  cancel.cancel();
  EXPECT_EQ(search.push('o', &cancel).error().code, ErrorCode::Cancelled);
  EXPECT_EQ(search.letters(), "niha");
  EXPECT_FALSE(search.best().empty()) << "what was found for the letters before still stands";
  cancel.reset();
  ASSERT_TRUE(search.push('o', &cancel));
  type(straight, "nihao");
  EXPECT_EQ(texts_of(search), texts_of(straight));
}

}  // namespace
}  // namespace laya::predict

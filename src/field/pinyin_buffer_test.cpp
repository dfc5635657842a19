#include "field/pinyin_buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace laya::field {
namespace {

/// A buffer and an engine that knows nothing: sentences "0S", "1S", …, a word "W" for the first two
/// letters, and the letters.
class Keys : public testing::Test {
 protected:
  PinyinAction press(PinyinKey key) {
    PinyinAction action = buffer_.handle(key, text_);
    text_ += action.commit;
    if (action.letters_changed && answers_) answer();
    return action;
  }
  PinyinAction press(PinyinKeyKind kind) { return press({.kind = kind}); }
  PinyinAction type(std::string_view text) {
    PinyinAction last;
    for (std::size_t i = 0; i < text.size(); ++i) {
      last = press({.kind = PinyinKeyKind::Text, .text = text.substr(i, 1)});
      if (!last.taken) text_ += text[i];
    }
    return last;
  }
  void answer() {
    const std::string letters(buffer_.letters());
    std::vector<std::string> texts;
    std::vector<PinyinCandidate> candidates;
    for (int i = 0; i < sentences_; ++i) texts.push_back(std::to_string(i) + "S");
    const auto all = static_cast<std::uint16_t>(letters.size());
    for (const std::string& text : texts) candidates.push_back({text, all, PinyinKind::Sentence});
    if (letters.size() > 2) candidates.push_back({"W", 2, PinyinKind::Word});
    candidates.push_back({letters, all, PinyinKind::Letters});
    buffer_.show({.letters = letters, .candidates = candidates});
  }

  PinyinBuffer buffer_;
  std::string text_;
  int sentences_ = 7;
  bool answers_ = true;
};

TEST(ChineseMark, IsTypedButNotInsideNumbers) {
  EXPECT_EQ(chinese_mark(",", "你好"), "，");
  EXPECT_EQ(chinese_mark(".", ""), "。");
  EXPECT_EQ(chinese_mark(".", "3"), "");
  EXPECT_EQ(chinese_mark("?", "3"), "？");
  EXPECT_EQ(chinese_mark("a", "你"), "");
}

TEST_F(Keys, LettersWaitUntilSpaceChooses) {
  const PinyinAction action = type("ni");
  EXPECT_TRUE(action.taken);
  EXPECT_TRUE(action.letters_changed);
  EXPECT_EQ(action.commit, "");
  EXPECT_EQ(buffer_.letters(), "ni");
  EXPECT_EQ(type(" ").commit, "0S");
  EXPECT_EQ(buffer_.letters(), "");
  EXPECT_TRUE(buffer_.page().empty());
  EXPECT_FALSE(type(" ").taken) << "nothing waits: the space is the text's";
}

TEST_F(Keys, WhatACandidateDoesNotStandForStays) {
  sentences_ = 2;
  type("ni'hao");
  EXPECT_EQ(buffer_.page(), (std::vector<std::string>{"0S", "1S", "W", "ni'hao"}));
  const PinyinAction action = type("3");
  EXPECT_EQ(action.commit, "W");
  EXPECT_TRUE(action.letters_changed);
  EXPECT_EQ(buffer_.letters(), "hao") << "the apostrophe has done its work";
  EXPECT_TRUE(type("9").taken) << "no such candidate, and no digit in the text";
  EXPECT_EQ(press({.kind = PinyinKeyKind::Pick, .number = 1}).commit, "0S");
  EXPECT_EQ(text_, "W0S");
}

TEST_F(Keys, TheLettersThemselvesAreOnTheFirstPage) {
  type("iphone");
  ASSERT_EQ(buffer_.page().size(), PinyinBuffer::kPage);
  EXPECT_EQ(buffer_.page().back(), "iphone");
  type("=");
  EXPECT_EQ(buffer_.page(), (std::vector<std::string>{"4S", "5S", "6S", "W"}));
}

TEST_F(Keys, PagesAndHighlightStayWithinTheList) {
  type("ab");  // 0S 1S 2S 3S ab | 4S 5S 6S
  press(PinyinKeyKind::PreviousPage);
  EXPECT_EQ(buffer_.page().front(), "0S");
  press(PinyinKeyKind::NextPage);
  EXPECT_EQ(buffer_.page().front(), "4S");
  type("=");
  EXPECT_EQ(buffer_.page().front(), "4S") << "there is none behind";
  type("-");
  EXPECT_EQ(buffer_.page().front(), "0S");
  press(PinyinKeyKind::Previous);
  EXPECT_EQ(buffer_.highlighted(), 0U);
  for (int i = 0; i < 6; ++i) press(PinyinKeyKind::Next);
  EXPECT_EQ(buffer_.page().front(), "4S");
  EXPECT_EQ(buffer_.highlighted(), 1U);
  for (int i = 0; i < 6; ++i) press(PinyinKeyKind::Next);
  EXPECT_EQ(buffer_.highlighted(), 2U);
  EXPECT_EQ(type(" ").commit, "6S");
}

TEST_F(Keys, EnterKeepsTheLettersEscapeDropsThemBackspaceTakesOne) {
  type("iPhone");
  EXPECT_EQ(text_, "");
  EXPECT_EQ(press(PinyinKeyKind::Enter).commit, "iPhone");
  type("nihao");
  EXPECT_TRUE(press(PinyinKeyKind::Escape).letters_changed);
  EXPECT_EQ(buffer_.letters(), "");
  type("ni");
  EXPECT_TRUE(press(PinyinKeyKind::Backspace).taken);
  EXPECT_EQ(buffer_.letters(), "n");
  press(PinyinKeyKind::Backspace);
  EXPECT_FALSE(press(PinyinKeyKind::Backspace).taken) << "nothing is composed: the text's own";
  EXPECT_EQ(text_, "iPhone");
}

TEST_F(Keys, AMarkChoosesWhatWaits) {
  type("ni,");
  EXPECT_EQ(text_, "0S，");
  type("3.");
  EXPECT_EQ(text_, "0S，3.") << "digits are the text's own, and so is a full stop behind one";
  type("ni#");
  EXPECT_EQ(text_, "0S，3.0S#");
}

TEST_F(Keys, TheCaretStaysAndAPasteComesBehindTheLetters) {
  EXPECT_FALSE(press(PinyinKeyKind::Caret).taken);
  type("ni");
  EXPECT_TRUE(press(PinyinKeyKind::Caret).taken);
  EXPECT_FALSE(press(PinyinKeyKind::Other).taken);
  EXPECT_EQ(buffer_.letters(), "ni");
  const PinyinAction action = press(PinyinKeyKind::Leave);
  EXPECT_FALSE(action.taken);
  EXPECT_EQ(action.commit, "ni");
  EXPECT_EQ(buffer_.letters(), "");
}

TEST_F(Keys, ACapitalBeginsNothingButJoinsLetters) {
  EXPECT_FALSE(type("K").taken);
  EXPECT_FALSE(type("'").taken);
  type("quKTV");
  EXPECT_EQ(buffer_.letters(), "quKTV");
}

// An answer that another process gives comes later, or never.
TEST_F(Keys, AKeyThatChoosesWaitsForItsAnswer) {
  answers_ = false;
  type("ni");
  EXPECT_FALSE(buffer_.is_answered());
  for (const char* key : {" ", "1", ","}) {
    const PinyinAction action = type(key);
    EXPECT_TRUE(action.taken && action.waits_for_answer) << key;
    EXPECT_EQ(action.commit, "");
    EXPECT_EQ(buffer_.letters(), "ni");
  }
  const PinyinCandidate other{"X", 1, PinyinKind::Sentence};
  EXPECT_FALSE(buffer_.show({.letters = "n", .candidates = {&other, 1}})) << "of older letters";
  answer();
  EXPECT_EQ(type(" ").commit, "0S");
  type("ni");
  EXPECT_EQ(buffer_.take_letters(), "ni");
  answers_ = true;
  type("ni");
  answers_ = false;
  type("h");
  EXPECT_TRUE(buffer_.page().empty()) << "what was listed is of other letters";
}

TEST_F(Keys, LettersBeyondTheLimitAreRefusedWithAReason) {
  answers_ = false;
  for (std::size_t i = 0; i < kMaxPinyinLetters; ++i) {
    ASSERT_EQ(type("a").refusal, PinyinRefusal::None);
  }
  answer();
  for (int i = 0; i < 100000; ++i) {
    const PinyinAction action = type("a");
    ASSERT_TRUE(action.taken);
    ASSERT_FALSE(action.letters_changed);
    ASSERT_EQ(action.refusal, PinyinRefusal::TooManyLetters);
  }
  EXPECT_EQ(buffer_.letters().size(), kMaxPinyinLetters);
  EXPECT_EQ(type(" ").commit, "0S") << "the answer still stands";
}

TEST_F(Keys, LettersThatTheEngineRefusedAreDropped) {
  answers_ = false;
  type("nihao");
  const PinyinCandidate candidate{"S", 3, PinyinKind::Sentence};
  EXPECT_TRUE(buffer_.show(
      {.letters = "nih", .candidates = {&candidate, 1}, .refusal = PinyinRefusal::TooManyLetters}));
  EXPECT_EQ(buffer_.letters(), "nih");
  EXPECT_EQ(type(" ").commit, "S");
  type("n");
  EXPECT_TRUE(buffer_.show({.refusal = PinyinRefusal::Failed}));
  EXPECT_EQ(buffer_.letters(), "");
}

// An engine's answer is not trusted with the buffer's bounds.
TEST_F(Keys, ACandidateConsumesNoMoreThanIsThere) {
  answers_ = false;
  type("ni");
  const PinyinCandidate candidate{"S", 9000, PinyinKind::Sentence};
  EXPECT_TRUE(buffer_.show({.letters = "ni", .candidates = {&candidate, 1}}));
  EXPECT_EQ(type(" ").commit, "S");
  EXPECT_EQ(buffer_.letters(), "");
}

TEST_F(Keys, KeepsNoLetterOfABlockedField) {
  type("ni");
  for (const FieldKind kind :
       {FieldKind::Password, FieldKind::Pin, FieldKind::Private, FieldKind::Terminal}) {
    buffer_.enter(kind);
    EXPECT_EQ(buffer_.letters(), "") << "what waited is dropped";
    const PinyinAction action = type("secret,");
    EXPECT_FALSE(action.taken);
    EXPECT_EQ(action.refusal, PinyinRefusal::FieldBlocked);
    EXPECT_EQ(action.commit, "");
    EXPECT_EQ(buffer_.letters(), "");
    EXPECT_FALSE(buffer_.show({.letters = "secret"}));
  }
  buffer_.enter(FieldKind::Text);
  EXPECT_TRUE(type("ni").taken);
}

}  // namespace
}  // namespace laya::field

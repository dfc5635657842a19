#include "text/incremental.h"

#include <gtest/gtest.h>

#include <random>

#include "text/test_vocabulary.h"

namespace laya::text {
namespace {

/// Everything that a full encode would say.
void expect_as_encoded_anew(const IncrementalTokenizer& editor, const std::string& text) {
  ASSERT_EQ(editor.text(), text);
  Tokens want;
  shipped_tokenizer().encode(text, want);
  ASSERT_TRUE(
      std::equal(editor.ids().begin(), editor.ids().end(), want.ids.begin(), want.ids.end()));
  ASSERT_TRUE(
      std::equal(editor.ends().begin(), editor.ends().end(), want.ends.begin(), want.ends.end()));
  const std::size_t closed = editor.closed_tokens();
  ASSERT_LE(closed, want.ids.size());
  const std::size_t closed_bytes = closed == 0 ? 0 : want.ends[closed - 1];
  ASSERT_EQ(editor.open_prefix(), text.substr(closed_bytes));
  ASSERT_EQ(editor.open_prefix().find_first_of(" \n"), std::string_view::npos);
}

TEST(IncrementalTokenizer, EqualsAFullEncodeAfterAnyEdits) {
  const std::string parts[] = {
      " ",    "  ",     "\n",      "the",      "hello ", "a",    "t",
      "我",   "，",     "，",      "<EMAIL>",  "<EM",    "AIL>", "👨‍👩‍👧",
      "\xE4", "\xBD",   "\xA0",    "\xF0\x9F", "12",     "\t",   std::string(300, 'x'),
      "▁",    "don't ", "今天天气"};
  std::mt19937 random(11);
  for (int session = 0; session < 60; ++session) {
    IncrementalTokenizer editor(shipped_tokenizer(), 64);
    std::string text;
    std::vector<TokenId> before;
    for (int edit = 0; edit < 120; ++edit) {
      const std::size_t offset = random() % 3 == 0 ? text.size() : random() % (text.size() + 1);
      const std::size_t erased = random() % 2 == 0 ? 0 : random() % 9;
      const std::string inserted = random() % 3 == 0 ? "" : parts[random() % std::size(parts)];
      text.replace(offset, std::min(erased, text.size() - offset), inserted);
      editor.replace(offset, erased, inserted);
      expect_as_encoded_anew(editor, text);
      if (HasFatalFailure()) {
        return;
      }
      const std::size_t same = editor.unchanged_tokens();
      ASSERT_LE(same, before.size());
      ASSERT_LE(same, editor.ids().size());
      ASSERT_TRUE(std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(same),
                             editor.ids().begin()));
      before.assign(editor.ids().begin(), editor.ids().end());
    }
  }
}

TEST(IncrementalTokenizer, KeepsTheTypedWordApartFromTheClosedOnes) {
  IncrementalTokenizer editor(shipped_tokenizer());
  struct Case {
    const char* typed;
    const char* open;
  };
  for (const Case& c : {Case{"I", "I"},
                        {" ", ""},
                        {"am", "am"},
                        {" ", ""},
                        {"her", "her"},
                        {"我", ""},
                        {"ok", "ok"},
                        {"，", ""},
                        {"\n", ""},
                        {"x", "x"}}) {
    editor.append(c.typed);
    EXPECT_EQ(editor.open_prefix(), c.open) << editor.text();
  }
}

TEST(IncrementalTokenizer, ReportsWhatAModelStateMayKeep) {
  IncrementalTokenizer editor(shipped_tokenizer());
  editor.assign("the cat sat on the mat ");
  const std::size_t all = editor.ids().size();
  editor.append("a");
  EXPECT_EQ(editor.unchanged_tokens(), all);
  editor.erase(editor.text().size() - 1, 1);
  EXPECT_EQ(editor.unchanged_tokens(), all);
  editor.replace(4, 3, "dog");  // "cat" ▶ "dog": only "the " stays
  EXPECT_EQ(editor.unchanged_tokens(), 1u);
  editor.replace(4, 3, "dog");  // nothing changes
  EXPECT_EQ(editor.unchanged_tokens(), editor.ids().size());
}

TEST(IncrementalTokenizer, ClipsEditsToTheText) {
  IncrementalTokenizer editor(shipped_tokenizer());
  editor.insert(99, "abc");
  EXPECT_EQ(editor.text(), "abc");
  editor.erase(1, 99);
  EXPECT_EQ(editor.text(), "a");
  editor.erase(5, 1);
  EXPECT_EQ(editor.text(), "a");
  editor.assign("");
  EXPECT_TRUE(editor.ids().empty());
  EXPECT_EQ(editor.closed_tokens(), 0u);
}

TEST(IncrementalTokenizer, EditsNearTheEndOfAMegabyteWithoutReencodingIt) {
  std::string text;
  while (text.size() < (1u << 20)) {
    text += "some words and 一些汉字 in a long text ";
  }
  IncrementalTokenizer editor(shipped_tokenizer(), text.size() + 64);
  editor.assign(text);
  for (const char* letter : {"w", "o", "r", "d", " "}) {
    const std::size_t before = editor.ids().size();
    editor.append(letter);
    EXPECT_GE(editor.unchanged_tokens() + 4, before);
  }
  expect_as_encoded_anew(editor, text + "word ");
}

}  // namespace
}  // namespace laya::text

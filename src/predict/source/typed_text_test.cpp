#include "predict/source/typed_text.h"

#include <gtest/gtest.h>

#include <string>

namespace laya::predict {
namespace {

TypedText text_of(std::string_view before, std::string_view after = {},
                  LeftEdge edge = LeftEdge::FieldStart) {
  TypedText text;
  text.assign(before, after, edge);
  return text;
}

TEST(TypedText, FindsTheWordBeingTyped) {
  struct Case {
    const char* before;
    const char* word;
  };
  for (const Case& c : {Case{"see you tom", "tom"}, Case{"see you ", ""}, Case{"don'", "don'"},
                        Case{"don’t", "don’t"}, Case{"'hel", "hel"}, Case{"top-dow", "dow"},
                        Case{"我们tom", "tom"}, Case{"caf\xC3\xA9", "caf\xC3\xA9"}, Case{"", ""},
                        Case{"x2", ""}, Case{"\xFFtom", "tom"}, Case{"😀", ""}, Case{"你好", ""}}) {
    SCOPED_TRACE(c.before);
    EXPECT_EQ(text_of(c.before).open_word(), c.word);
  }
}

TEST(TypedText, KnowsWhatStandsRightOfTheCaret) {
  EXPECT_EQ(text_of("hel", "lo world").rest_of_word(), "lo");
  EXPECT_EQ(text_of("hello", " world").rest_of_word(), "");
  EXPECT_EQ(text_of("hello", " world now").next_word_after(), "world");
  EXPECT_EQ(text_of("hello", "\nworld").next_word_after(), "");
  EXPECT_EQ(text_of("我", "们").next_word_after(), "们");
}

// Complaint 10: unknown left context, abbreviations and decimals start no sentence.
TEST(TypedText, StartsASentenceOnlyWhereOneStarts) {
  struct Case {
    const char* before;
    bool starts;
  };
  for (const Case& c :
       {Case{"", true}, Case{"Hello. ", true}, Case{"Hello.", false}, Case{"Hello.\n", true},
        Case{"hello ", false}, Case{"Really? ", true}, Case{"e.g. ", false},
        Case{"see e.g. ", false}, Case{"Mr. ", false}, Case{"3. ", false}, Case{"costs 3.", false},
        Case{"line\n", true}, Case{"好。", true}, Case{"好，", false}, Case{"He said \"", false},
        Case{"Yes! \"", true}, Case{"Hello. wor", true}}) {
    SCOPED_TRACE(c.before);
    EXPECT_EQ(text_of(c.before).at_sentence_start(), c.starts);
  }
  EXPECT_FALSE(text_of("", "", LeftEdge::Unknown).at_sentence_start());
  EXPECT_TRUE(text_of("cut off here. ", "", LeftEdge::Unknown).at_sentence_start());
}

TEST(TypedText, StaysSilentInAddressesAndPaths) {
  for (const char* before :
       {"foo@exam", "https://exam", "www.exam", "snake_ca", "~/Doc", "file.tx"}) {
    SCOPED_TRACE(before);
    EXPECT_TRUE(text_of(before).in_address());
  }
  for (const char* before :
       {"hello", "(hello", "top-dow", "and/o", "@joh", "wait...what", "我tom"}) {
    SCOPED_TRACE(before);
    EXPECT_FALSE(text_of(before).in_address());
  }
}

TEST(TypedText, SeesWhoWritesWithoutCapitals) {
  EXPECT_TRUE(text_of("see you on mon").writes_without_capitals());
  EXPECT_FALSE(text_of("See you on mon").writes_without_capitals());
  EXPECT_FALSE(text_of("mon").writes_without_capitals());  // the first word tells nothing yet
  EXPECT_FALSE(text_of("我们 mon").writes_without_capitals());
}

TEST(TypedText, HoldsHalfCharactersBack) {
  EXPECT_TRUE(text_of("你\xE5\xA5").ends_in_half_character());
  EXPECT_TRUE(text_of("\xF0\x9F").ends_in_half_character());
  EXPECT_FALSE(text_of("你好").ends_in_half_character());
  EXPECT_FALSE(text_of("a\xFF").ends_in_half_character());  // ill-formed, not half
}

TEST(TypedText, OnlyTheEndOfALongTextIsKept) {
  std::string book;
  while (book.size() < 1000000) {
    book += "all work and no play ";
  }
  TypedText text = text_of(book);
  EXPECT_LE(text.before().size(), kKeptBytes);
  EXPECT_FALSE(text.starts_field());
  for (int i = 0; i < 20000; ++i) {
    text.apply(0, 0, "a ");
    ASSERT_LE(text.before().size(), 2 * kKeptBytes);
  }
  EXPECT_TRUE(text.before().ends_with("a a "));
}

TEST(TypedText, AssignKeepsWhatIsCommon) {
  TypedText text = text_of("see you tomorrow");
  const TypedText::Delta delta = text.assign("see you toni", "", LeftEdge::FieldStart);
  EXPECT_EQ(text.before(), "see you toni");
  EXPECT_EQ(delta.erased, 6U);
  EXPECT_EQ(delta.inserted, 2U);
}

TEST(TypedText, AnOwedSpaceStandsThereUntilTheNextEdit) {
  TypedText text = text_of("title");
  text.owe_space(PendingSpace::Owed);
  EXPECT_EQ(text.before(), "title ");
  EXPECT_FALSE(text.can_erase(6, 0));  // the space is not the user's
  text.apply(0, 0, "s");
  EXPECT_EQ(text.before(), "titles");
}

}  // namespace
}  // namespace laya::predict

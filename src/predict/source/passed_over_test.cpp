#include "predict/source/passed_over.h"

#include <gtest/gtest.h>

#include "predict/session/test_engine.h"

namespace laya::predict {
namespace {

struct Field {
  void type(std::string_view letters) {
    text.apply(0, 0, letters);
    words.follow(text);
  }
  TypedText text;
  PassedOver words;
};

TEST(PassedOver, HoldsWhatWasShownAndNotTaken) {
  Field field;
  field.type("see t");
  field.words.shown("the");
  EXPECT_FALSE(field.words.holds("the")) << "still there to be taken";
  field.type("o");
  EXPECT_TRUE(field.words.holds("the"));
  EXPECT_FALSE(field.words.holds("tomorrow"));
  field.words.shown("tomorrow");
  field.type("m");
  EXPECT_TRUE(field.words.holds("the"));
  EXPECT_TRUE(field.words.holds("tomorrow"));
}

TEST(PassedOver, TheFirstLetterPassesOverWhatStoodInTheEmptyWord) {
  Field field;
  field.type("see ");
  field.words.shown("you");
  field.type("t");
  EXPECT_TRUE(field.words.holds("you"));
}

TEST(PassedOver, ASpaceThatWasOwedChangesNothing) {
  Field field;
  field.type("see");
  field.text.owe_space(PendingSpace::Owed);
  field.words.follow(field.text);
  field.words.shown("you");
  field.type(" t");
  EXPECT_TRUE(field.words.holds("you"));
}

TEST(PassedOver, TheNextWordAndBackspaceForget) {
  for (const bool erase : {false, true}) {
    Field field;
    field.type("see t");
    field.words.shown("the");
    field.type("o");
    ASSERT_TRUE(field.words.holds("the"));
    if (erase) {
      field.text.apply(1, 0, "");
      field.words.follow(field.text);
    } else {
      field.type(" ");
    }
    EXPECT_FALSE(field.words.holds("the"));
    field.type("o");
    EXPECT_FALSE(field.words.holds("the"));
  }
}

TEST(PassedOver, AskingAgainIsNotPassingOver) {
  Field field;
  field.type("see t");
  field.words.shown("the");
  field.words.follow(field.text);
  field.words.follow(field.text);
  EXPECT_FALSE(field.words.holds("the"));
}

TEST(PassedOver, ClearForgets) {
  Field field;
  field.type("see t");
  field.words.shown("the");
  field.type("o");
  field.words.clear();
  EXPECT_FALSE(field.words.holds("the"));
}

// In a session: the words of the one-letter list make place for others, unless nothing else fits.
TEST(Session, OffersOtherWordsThanThoseThatWerePassedOver) {
  const auto first_of = [](Session& session) {
    const Answer answer = copy_of(session.decide({.candidates = 1}));
    return answer.texts.empty() ? std::string() : answer.texts[0];
  };
  Session session(table_engine());
  session.set_text({.revision = 1, .before = "see t", .after = {}});
  const std::string offered = first_of(session);
  ASSERT_EQ(offered, "the");
  Session fresh(table_engine());
  fresh.set_text({.revision = 1, .before = "see th", .after = {}});
  ASSERT_EQ(first_of(fresh), offered) << "without the history it is offered again";
  ASSERT_TRUE(session.edit({.revision = 2, .insert = "h"}));
  const std::string next = first_of(session);
  EXPECT_NE(next, offered);
  EXPECT_TRUE(next.starts_with("th")) << next;
  // Taking the letter back forgives.
  ASSERT_TRUE(session.edit({.revision = 3, .erase_before = 1}));
  ASSERT_TRUE(session.edit({.revision = 4, .insert = "h"}));
  EXPECT_EQ(first_of(session), offered);
}

}  // namespace
}  // namespace laya::predict

#include "field/ghost_state.h"

#include <gtest/gtest.h>

#include <string>

namespace laya::field {
namespace {

// A fake front end: a text with the caret at its end, which performs what GhostState says.
class Field {
 public:
  void type(std::string_view keys) {
    for (const char key : keys) {
      text += state.typed({&key, 1}).insert;
    }
  }
  void key(std::string_view grapheme) { text += state.typed(grapheme).insert; }
  bool reply(std::string_view ghost, std::uint64_t revision) {
    Reply reply;
    reply.revision = revision;
    reply.has_ghost = true;
    reply.ghost.text = ghost;
    return state.show(reply);
  }
  bool reply(std::string_view ghost) { return reply(ghost, state.revision()); }
  void accept(std::string_view insert) {
    Candidate candidate;
    candidate.text = candidate.insert = insert;
    text += state.accept(candidate).insert;
  }
  void accept_word() { text += state.accept_word().insert; }
  void accept_all() { text += state.accept_all().insert; }

  GhostState state;
  std::string text;
};

// Complaint 2: an older reply is never shown.
TEST(GhostState, DropsAReplyToAnOlderRevision) {
  Field field;
  field.type("s");
  const std::uint64_t old = field.state.revision();
  field.type("t");
  EXPECT_FALSE(field.reply("op", old));
  EXPECT_EQ(field.state.ghost(), "");
  EXPECT_TRUE(field.reply("op"));
  EXPECT_EQ(field.state.ghost(), "op");
}

// Complaint 2: "systemctl sttop".
TEST(GhostState, TypingTheNextLetterShortensAnyOtherClears) {
  Field field;
  field.type("systemctl s");
  field.reply("top the");
  field.type("t");
  EXPECT_EQ(field.state.ghost(), "op the");
  EXPECT_EQ(field.text + std::string(field.state.ghost()), "systemctl stop the");
  field.type("a");
  EXPECT_EQ(field.state.ghost(), "");
  EXPECT_EQ(field.text, "systemctl sta");
}

// Complaint 30.
TEST(GhostState, ShortensByWholeGraphemes) {
  Field field;
  field.reply("👨‍👩‍👧 hi");
  field.key("👨");  // the family's first member only: not what is shown
  EXPECT_EQ(field.state.ghost(), "");
  field.reply("👨‍👩‍👧 hi");
  field.key("👨‍👩‍👧");
  EXPECT_EQ(field.state.ghost(), " hi");
}

// Complaint 1: what is accepted is what was shown, byte for byte, at every split.
TEST(GhostState, AcceptGivesExactlyWhatWasShown) {
  const std::string phrase = "afternoon at the café, 我们明天见";
  for (std::size_t split = 0; split < 9; ++split) {
    Field field;
    field.type(phrase.substr(0, split));
    field.reply(phrase.substr(split));
    field.accept_all();
    EXPECT_EQ(field.text, phrase);
  }
}

TEST(GhostState, AcceptsWordByWordUpToTheEnd) {
  Field field;
  field.type("see you tom");
  field.reply("orrow at five");
  field.accept_word();
  EXPECT_EQ(field.text, "see you tomorrow");
  EXPECT_EQ(field.state.ghost(), " at five");
  field.accept_word();
  EXPECT_EQ(field.text, "see you tomorrow at");
  field.accept_word();
  EXPECT_EQ(field.text, "see you tomorrow at five");
  EXPECT_EQ(field.state.ghost(), "");
  EXPECT_TRUE(field.state.accept_word().insert.empty());
}

// Complaint 5: "title s".
TEST(GhostState, ALetterJoinsAnAcceptedWord) {
  Field field;
  field.accept("title");
  EXPECT_EQ(field.state.pending_space(), PendingSpace::Owed);
  field.type("s");
  EXPECT_EQ(field.text, "titles");
}

TEST(GhostState, PunctuationAttachesAndASpaceIsNotDoubled) {
  Field field;
  field.accept("title");
  field.type(".");
  EXPECT_EQ(field.text, "title.");
  field.accept(" title");
  field.type(" of");
  EXPECT_EQ(field.text, "title. title of");
}

TEST(GhostState, AcceptingAnotherWordPaysTheSpaceFirst) {
  Field field;
  field.accept("see");
  field.accept("you");
  EXPECT_EQ(field.text, "see you");
  field.reply("tomorrow");
  EXPECT_EQ(field.state.ghost(), " tomorrow");  // what is shown is what is accepted
  field.accept_all();
  EXPECT_EQ(field.text, "see you tomorrow");
}

TEST(GhostState, ChineseOwesNoSpace) {
  Field field;
  field.accept("我们");
  EXPECT_EQ(field.state.pending_space(), PendingSpace::None);
  field.accept("明天");
  EXPECT_EQ(field.text, "我们明天");
}

// Complaint 6: nothing typed is rewritten.
TEST(GhostState, TypedKeysComeOutAsTyped) {
  Field field;
  field.type("wait ... i am  here ,ok");
  EXPECT_EQ(field.text, "wait ... i am  here ,ok");
}

// Complaint 28: the ghost is never committed on blur.
TEST(GhostState, BlurAndDismissLeaveNothing) {
  Field field;
  field.type("s");
  field.reply("ee");
  field.state.dismiss();
  EXPECT_EQ(field.state.ghost(), "");
  EXPECT_FALSE(field.reply("ee"));  // not again until something is typed
  field.type("e");
  EXPECT_TRUE(field.reply("e"));
  field.state.blur();
  EXPECT_EQ(field.state.ghost(), "");
  EXPECT_TRUE(field.state.accept_all().insert.empty());
  EXPECT_EQ(field.text, "se");
}

TEST(GhostState, ACaretThatMovesTakesEverythingBack) {
  Field field;
  field.accept("title");
  field.reply("page");
  const std::uint64_t revision = field.state.revision();
  EXPECT_GT(field.state.text_changed(), revision);
  EXPECT_EQ(field.state.ghost(), "");
  EXPECT_EQ(field.state.pending_space(), PendingSpace::None);
}

}  // namespace
}  // namespace laya::field

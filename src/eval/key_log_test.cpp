#include "eval/key_log.h"

#include <gtest/gtest.h>

#include "eval/key_log_pairs.h"

namespace laya::eval {
namespace {

const std::string kBegin = R"({"v":1,"kind":"session","t_ms":0,"typist":"person","field":"text"})"
                           "\n";

KeySession sample() {
  KeySession session;
  session.typist = TypistKind::Simulated;
  session.seed = 7;
  session.before = "好 ";
  session.after = "!";
  session.meant = "the day";
  session.events = {
      {.kind = KeyEventKind::Key, .t_ms = 10, .text = "t", .done = 1},
      {.kind = KeyEventKind::Key, .t_ms = 90, .text = "g", .done = 2, .slip = SlipKind::Neighbour},
      {.kind = KeyEventKind::Key, .t_ms = 200, .text = "e", .done = 3},
      {.kind = KeyEventKind::Erase, .t_ms = 600, .erase_before = 1, .done = 3},
      {.kind = KeyEventKind::Erase, .t_ms = 700, .erase_before = 1, .done = 3},
      {.kind = KeyEventKind::Key, .t_ms = 900, .text = "h", .done = 2},
      {.kind = KeyEventKind::Pick,
       .t_ms = 1500,
       .text = "e ",
       .from = PickFrom::List,
       .rank = 1,
       .offers = {"this", "the"},
       .done = 4},
      {.kind = KeyEventKind::Key, .t_ms = 1700, .text = "day", .done = 7},
      {.kind = KeyEventKind::Caret, .t_ms = 2600, .caret = 4, .done = 7}};
  session.end_ms = 3000;
  return session;
}

TEST(KeyLog, WhatIsWrittenIsReadBack) {
  std::string log;
  append_key_log(sample(), &log);
  append_key_log(sample(), &log);
  const auto read = parse_key_log(log);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0], sample());
  EXPECT_EQ((*read)[1], sample());
  std::string again;
  for (const KeySession& session : *read) append_key_log(session, &again);
  EXPECT_EQ(again, log);
}

TEST(KeyLog, PlaysTheTextThatWasTyped) {
  const KeySession session = sample();
  PlayedField field(session);
  for (const KeyEvent& event : session.events) ASSERT_TRUE(field.apply(event));
  EXPECT_EQ(field.text(), "好 the day!");
  EXPECT_EQ(field.before(), "好 ");
}

TEST(KeyLog, KeepsAnUnfinishedSessionAsFarAsItGoes) {
  const auto read = parse_key_log(kBegin + R"({"v":1,"kind":"key","t_ms":5,"text":"a"})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().events.size(), 1U);
}

TEST(KeyLog, IgnoresFieldsThatALaterWriterAdds) {
  EXPECT_TRUE(parse_key_log(
      kBegin + R"({"v":1,"kind":"key","t_ms":5,"text":"a","pressure":[0.5,{"x":1}]})"));
}

ErrorCode code_of(const std::string& log, std::string* message) {
  const auto read = parse_key_log(log);
  if (read) {
    ADD_FAILURE() << "was taken";
    return ErrorCode::Internal;
  }
  *message = read.error().message;
  return read.error().code;
}

TEST(KeyLog, RefusesWhatDoesNotFitAndQuotesNoText) {
  std::string message;
  const char* const lines[] = {
      R"(not json secret)",
      R"({"v":1,"kind":"key","t_ms":5})",
      R"({"v":1,"kind":"key","t_ms":5,"text":7})",
      R"({"v":1,"kind":"key","t_ms":-5,"text":"secret"})",
      R"({"v":1,"kind":"secret","t_ms":5,"text":"secret"})",
      R"({"v":1,"kind":"key","t_ms":5,"text":"secret","slip":"secret"})",
      R"({"v":1,"kind":"erase","t_ms":5,"before":1})",
      R"({"v":1,"kind":"caret","t_ms":5,"at":1})",
      R"({"v":1,"kind":"pick","t_ms":5,"text":"secret","from":"secret"})",
      R"({"v":1,"kind":"pick","t_ms":5,"text":"secret","from":"list","offers":"secret"})",
      R"({"v":1,"kind":"end","t_ms":5,"bytes":3})",
      R"({"v":1,"kind":"key","t_ms":99999999999,"text":"secret"})"};
  for (const char* line : lines) {
    EXPECT_EQ(code_of(kBegin + line + "\n", &message), ErrorCode::Corrupt) << line;
    EXPECT_TRUE(message.starts_with("line 2: ")) << message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  }
  EXPECT_EQ(code_of(R"({"v":2,"kind":"session","t_ms":0})", &message), ErrorCode::Version);
  EXPECT_EQ(code_of(R"({"v":1,"kind":"key","t_ms":0,"text":"a"})", &message), ErrorCode::Corrupt);
  EXPECT_EQ(code_of(kBegin + std::string(kMaxKeyLogLine + 1, ' '), &message), ErrorCode::TooLarge);
}

TEST(KeyLog, TimeNeverGoesBack) {
  std::string message;
  EXPECT_EQ(code_of(kBegin + R"({"v":1,"kind":"key","t_ms":9,"text":"a"})" + "\n" +
                        R"({"v":1,"kind":"key","t_ms":8,"text":"a"})",
                    &message),
            ErrorCode::Corrupt);
  EXPECT_TRUE(message.starts_with("line 3: "));
}

TEST(KeyLog, NeverErasesHalfACharacter) {
  std::string message;
  EXPECT_EQ(code_of(kBegin + R"({"v":1,"kind":"key","t_ms":1,"text":"好"})" + "\n" +
                        R"({"v":1,"kind":"erase","t_ms":2,"before":1})",
                    &message),
            ErrorCode::Corrupt);
}

// Complaints 19 and 20: a password is not even readable from a log, so no recorder may write one.
TEST(KeyLog, HoldsNothingOfAnyFieldButText) {
  std::string message;
  EXPECT_EQ(code_of(R"({"v":1,"kind":"session","t_ms":0,"typist":"person","field":"password"})",
                    &message),
            ErrorCode::Corrupt);
}

TEST(TypingPairs, ComeFromWhatWasDone) {
  const std::vector<TypingPair> pairs = typing_pairs(sample());
  const TypingPair edit{PairKind::Edit, "好 ", "tge", "the", {}};
  const TypingPair pick{PairKind::Pick, "好 ", "th", "the", {"this", "the"}};
  const TypingPair completion{PairKind::Completion, "好 ", "th", "the", {}};
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), edit), 1);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), pick), 1);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), completion), 1);
  for (const TypingPair& pair : pairs) {
    EXPECT_NE(pair.typed, "tg");  // that text did not stay: nothing to complete
  }
  std::string line;
  append_pair(pick, &line);
  EXPECT_EQ(line,
            "{\"kind\":\"pick\",\"before\":\"好 \",\"typed\":\"th\",\"became\":\"the\","
            "\"offers\":[\"this\",\"the\"]}\n");
}

TEST(TypingPairs, AChangeOfMindIsNoCorrection) {
  KeySession session;
  session.events = {{.kind = KeyEventKind::Key, .t_ms = 1, .text = "house"},
                    {.kind = KeyEventKind::Erase, .t_ms = 2, .erase_before = 5},
                    {.kind = KeyEventKind::Key, .t_ms = 3, .text = "garden"}};
  for (const TypingPair& pair : typing_pairs(session)) EXPECT_NE(pair.kind, PairKind::Edit);
}

}  // namespace
}  // namespace laya::eval

#include "remote/remote_question.h"

#include <gtest/gtest.h>

namespace laya::remote {
namespace {

TEST(RemoteQuestion, KeepsASpaceBackAndExpectsIt) {
  const RemoteQuestion question = remote_question("see you ");
  EXPECT_EQ(question.prompt, "see you");
  EXPECT_EQ(fitting(question, " tomorrow "), "tomorrow");
  EXPECT_EQ(fitting(question, "r friend"), "") << "that would be another word";
  EXPECT_EQ(fitting(question, "  two"), "");
  EXPECT_EQ(fitting(question, " "), "");
}

TEST(RemoteQuestion, GoesOnInsideAWordOrBehindIt) {
  const RemoteQuestion question = remote_question("see you tom");
  EXPECT_EQ(question.prompt, "see you tom");
  EXPECT_EQ(fitting(question, "orrow at noon"), "orrow at noon");
  EXPECT_EQ(fitting(question, " and me"), " and me");
  EXPECT_EQ(fitting(question, ""), "");
}

TEST(RemoteQuestion, PutsNoSpaceBehindChineseOrALineEnd) {
  EXPECT_EQ(fitting(remote_question("我们明天"), " 去吃饭"), "去吃饭");
  EXPECT_EQ(fitting(remote_question("Hi,\n"), " how are you"), "how are you");
  EXPECT_EQ(fitting(remote_question("a  "), " b"), "b");
  EXPECT_EQ(remote_question(" ").prompt, " ");
  EXPECT_EQ(remote_question("").prompt, "");
}

}  // namespace
}  // namespace laya::remote

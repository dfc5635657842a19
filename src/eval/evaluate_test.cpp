#include "eval/evaluate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "eval/evaluate_next.h"
#include "eval/learn_mixing.h"
#include "predict/session/test_engine.h"

namespace laya::eval {
namespace {

using predict::even_mixing;
using predict::full_engine;
using predict::Mixing;
using predict::network_engine;
using predict::table_engine;

// Words that no list holds cost all their letters, and the space between them.
TEST(Evaluate, CountsKeysAsTheBaselineDoes) {
  const auto result = evaluate_ksr(table_engine(), {"zzzz zz", ""}, {.slots = {1, 3}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->lines, 1U);
  EXPECT_EQ(result->words, 2U);
  EXPECT_EQ(result->keystrokes, 4U + 1U + 2U);
  EXPECT_EQ(result->slots[0].keys_used, 7U);
  EXPECT_DOUBLE_EQ(result->slots[0].saved, 0);
}

TEST(Evaluate, AWordThatIsOfferedAtOnceCostsOneKeyAndBringsItsSpace) {
  const auto result = evaluate_ksr(table_engine(), {"thank YOU zz"}, {.slots = {1}});
  ASSERT_TRUE(result);
  // "thank": never first at the line's start with nothing typed; what it costs is whatever it
  // costs. "you": one key instead of four.
  const auto alone = evaluate_ksr(table_engine(), {"thank zzz zz"}, {.slots = {1}});
  ASSERT_TRUE(alone);
  EXPECT_EQ(result->keystrokes, alone->keystrokes);
  EXPECT_EQ(alone->slots[0].keys_used - result->slots[0].keys_used, 3U);
  EXPECT_EQ(result->slots[0].next_word_hits, 1U);
}

TEST(Evaluate, MoreSlotsNeverSaveLess) {
  const auto result = evaluate_ksr(
      full_engine(), {"I will see you tomorrow", "please send me the notes"}, {.slots = {5, 1, 3}});
  ASSERT_TRUE(result);
  EXPECT_GE(result->slots[0].saved, result->slots[2].saved);
  EXPECT_GE(result->slots[2].saved, result->slots[1].saved);
  const auto json = nlohmann::json::parse(to_json(*result));
  EXPECT_EQ(json["lines"], 2);
  EXPECT_DOUBLE_EQ(json["saved"]["3"].get<double>(), result->slots[2].saved);
}

TEST(Evaluate, RefusesNonsense) {
  EXPECT_EQ(evaluate_ksr(table_engine(), {"a"}, {.slots = {0}}).error().code,
            ErrorCode::BadArgument);
  EXPECT_EQ(evaluate_ksr(table_engine(), {"a"}, {.slots = {11}}).error().code,
            ErrorCode::BadArgument);
  EXPECT_EQ(evaluate_ksr(table_engine(), {"a"}, {.slots = {}}).error().code,
            ErrorCode::BadArgument);
  EXPECT_EQ(evaluate_ksr(table_engine(), {" ", ""}, {}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(evaluate_next_char(table_engine(), {}, {}).error().code, ErrorCode::BadArgument);
}

TEST(Evaluate, NextCharactersAreCountedOverHanOnly) {
  std::size_t last = 0;
  const auto result =
      evaluate_next_char(table_engine(), {"祝你生日快乐！ok"},
                         {.progress = [&](std::size_t done, std::size_t) { last = done; }});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->characters, 6U);
  EXPECT_GE(result->top1, 3U);  // 你 日 快 乐 follow in the table's text
  EXPECT_GE(result->top3, result->top1);
  EXPECT_EQ(last, 1U);
}

TEST(LearnMixing, GivesARandomNetworkNoShare) {
  const std::vector<std::string> words = {"I will see you tomorrow",
                                          "thank you very much for your help",
                                          "please send me the notes from the meeting"};
  const std::vector<std::string> han = {"我们明天去吃饭吧", "今天天气很好", "祝你生日快乐"};
  const auto learnt = learn_mixing(full_engine(), words, han, {});
  ASSERT_TRUE(learnt);
  EXPECT_GE(learnt->word_hits_after, learnt->word_hits_before);
  EXPECT_GE(learnt->han_hits_after, learnt->han_hits_before);
  EXPECT_LE(learnt->mixing.word_network[Mixing::kContextBuckets - 1][0], 0.5F);
  EXPECT_EQ(learn_mixing(table_engine(), words, han, {}).error().code, ErrorCode::BadArgument);
}

}  // namespace
}  // namespace laya::eval

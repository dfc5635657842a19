// What the evaluators count, on engines whose answers are known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "eval/evaluate.h"
#include "eval/evaluate_bpc.h"
#include "eval/evaluate_diversity.h"
#include "eval/evaluate_ghost.h"
#include "eval/evaluate_next.h"
#include "eval/evaluate_replay.h"
#include "eval/frozen_set.h"
#include "eval/ghost_cases.h"
#include "eval/ghost_match.h"
#include "predict/session/test_engine.h"

namespace laya::eval {
namespace {

using predict::full_engine;
using predict::table_engine;

TEST(GhostMatch, TakesWholeWordsOnly) {
  EXPECT_TRUE(match_ghost("orrow at", "orrow at five").whole);
  EXPECT_EQ(match_ghost("orrow at", "orrow at five").accepted, 8U);
  EXPECT_FALSE(match_ghost("note", "notes").whole);
  EXPECT_EQ(match_ghost("note", "notes").accepted, 0U);
  EXPECT_EQ(match_ghost("see you later", "see you soon").accepted, 7U);
  EXPECT_EQ(match_ghost("see you later", "see you soon").first, 3U);
  EXPECT_TRUE(match_ghost("See", "see you").whole);
  EXPECT_EQ(match_ghost("快乐", "快来").accepted, 3U);
  EXPECT_FALSE(match_ghost("later", "").whole);
}

TEST(EvaluateNext, ReadsMarkedWords) {
  const MarkedLine marked = read_marked("我 想 review 一下 ， 好吗");
  EXPECT_EQ(marked.text, "我想 review 一下，好吗");
  EXPECT_EQ(marked.word_starts, (std::vector<std::size_t>{0, 3, 14, 23}));
}

TEST(EvaluateNext, CountsEachPlaceOnce) {
  const auto result = evaluate_next(table_engine(), {"thank you", "祝 你 生日 快乐"},
                                    {.segmented = Segmented::Marked});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->words[0].count, 2U);
  EXPECT_EQ(result->words[3].count, 1U);  // "you" has no fourth letter to wait for
  EXPECT_GT(result->words[0].top1, 0);    // "you" behind "thank"
  EXPECT_EQ(result->zh_characters.count, 6U);
  EXPECT_EQ(result->zh_words.count, 4U);
  EXPECT_GE(result->zh_words.top3, result->zh_word_exact.top3);
  EXPECT_LE(result->words[0].top1, result->words[0].mrr);
  const auto json = nlohmann::json::parse(to_json(*result));
  EXPECT_EQ(json["words"][0]["places"], 2);
}

TEST(EvaluateGhost, SharesAddUp) {
  const auto result =
      evaluate_ghost(full_engine(), {"I will see you tomorrow", "thank you very much"}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->keys, 23U + 19U);
  EXPECT_NEAR(result->harm.value, result->shown.value * (1 - result->precision.value), 1e-9);
  EXPECT_GE(result->useful.value, result->precision.value);
  for (std::size_t i = 1; i < result->curve.size(); ++i) {
    EXPECT_LE(result->curve[i].shown, result->curve[i - 1].shown);
  }
}

TEST(GhostCases, AreReadAndJudged) {
  const auto cases = parse_ghost_cases(
      "# comment\nblank\t\t\t-\nnext-word\tthank \t\tyou|them\nright-of-caret\tthank "
      "\tyou\t!you\n");
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->size(), 3U);
  EXPECT_EQ((*cases)[0].line, 2U);
  EXPECT_EQ((*cases)[1].wanted, (std::vector<std::string>{"you", "them"}));
  EXPECT_EQ((*cases)[2].forbidden, (std::vector<std::string>{"you"}));
  const auto result = evaluate_ghost_cases(table_engine(), *cases);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kinds.at("blank").as_expected, 1U);
  EXPECT_EQ(result->kinds.at("right-of-caret").as_expected, 1U);
  EXPECT_EQ(result->all.cases, 3U);
}

TEST(GhostCases, ErrorsNameTheLine) {
  for (const char* bad : {"a\tb\tc", "\tb\tc\t-", "a\tb\tc\t", "a\t\\x\tc\t-", "a\tb\tc\td\te",
                          "a\tb\tc\tx|!y", "a\tb\tc\tx||y"}) {
    const auto cases = parse_ghost_cases(bad);
    ASSERT_FALSE(cases) << bad;
    EXPECT_TRUE(cases.error().message.starts_with("line 1:")) << bad;
  }
}

TEST(FrozenSet, HoldsWhatTestdataHolds) {
  EXPECT_EQ(text_lines(frozen_english()).size(), 120U);
  EXPECT_EQ(text_lines(frozen_chinese()).size(), 120U);
  const auto cases = parse_ghost_cases(frozen_ghost_cases());
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_GT(cases->size(), 100U);
}

TEST(EvaluateDiversity, CountsEdits) {
  EXPECT_EQ(edit_distance("kitten", "Sitting"), 3U);
  EXPECT_EQ(edit_distance("生日", "生气"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  const auto result = evaluate_diversity(full_engine(), {"thank you very much"}, {.slots = 3});
  ASSERT_TRUE(result);
  EXPECT_GT(result->lists, 0U);
  EXPECT_GT(result->distance, 0);
  EXPECT_LE(result->share, 1);
  EXPECT_FALSE(evaluate_diversity(full_engine(), {"a"}, {.slots = 1}));
}

// A network that knows nothing spends log2(16384) bits on each of its pieces, or more where it is
// sure of something else.
TEST(EvaluateBpc, ARandomNetworkKnowsNothing) {
  const auto result =
      evaluate_bpc(predict::network_engine(), {"thank you very much", "生日快乐"}, {});
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->network);
  EXPECT_FALSE(result->decoder);
  EXPECT_EQ(result->characters, 23U);
  EXPECT_GT(result->network->bits / result->network->tokens_per_character, 13);
  EXPECT_FALSE(evaluate_bpc(table_engine(), {"a"}, {}));
}

TEST(EvaluateKsr, GhostAndCeilingsAreOrdered) {
  const auto result =
      evaluate_ksr(full_engine(), {"I will see you tomorrow", "thank you very much"},
                   {.slots = {1, 5}, .ghost_only = GhostOnly::Yes});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->has_ghost);
  EXPECT_GE(result->oracle_saved, result->slots[1].saved);
  EXPECT_GE(result->perfect_saved, result->oracle_saved);
  EXPECT_LE(result->slots[1].saved_interval.low, result->slots[1].saved);
  std::uint64_t saved = 0;
  for (const auto& [name, picks] : result->slots[1].sources) saved += picks.keys_saved;
  EXPECT_EQ(saved, result->keystrokes - result->slots[1].keys_used);
}

KeySession typed(const std::string& keys) {
  KeySession session;
  for (const char c : keys) {
    session.events.push_back({.kind = c == '<' ? KeyEventKind::Erase : KeyEventKind::Key,
                              .text = c == '<' ? "" : std::string(1, c),
                              .erase_before = c == '<' ? 1U : 0U});
  }
  return session;
}

TEST(EvaluateReplay, CountsEveryKeyAndSavesTheRestOfAWord) {
  const auto result = evaluate_replay(table_engine(), {typed("thank you zz")},
                                      {.slots = {1}, .ghost = ReplayGhost::Yes});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->keys, 12U);
  EXPECT_GE(result->slots[0].picks, 1U);
  EXPECT_GE(result->slots[0].saved * 12, 3 - 1e-9);  // "you " for one key
  EXPECT_EQ(result->wrong_keys, 0);
}

TEST(EvaluateReplay, ASlipAndItsBackspaceAreKeys) {
  const auto result =
      evaluate_replay(table_engine(), {typed("zq<z")}, {.slots = {1}, .ghost = ReplayGhost::No});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->keys, 4U);
  EXPECT_DOUBLE_EQ(result->wrong_keys, 0.25);  // the Backspace is pressed while the text is wrong
  EXPECT_FALSE(evaluate_replay(table_engine(), {}, {}));
}

}  // namespace
}  // namespace laya::eval

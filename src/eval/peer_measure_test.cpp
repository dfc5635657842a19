#include "eval/peer_measure.h"

#include <gtest/gtest.h>

#include "predict/session/test_engine.h"

namespace laya::eval {
namespace {

/// Offers the same words everywhere, those that begin with the open word.
class Fixed : public Predictor {
 public:
  explicit Fixed(std::vector<std::string> words) : words_(std::move(words)) {}
  bool remembers() const override { return false; }
  Status new_line() override {
    ++lines;
    return {};
  }
  Result<std::vector<std::string>> offers(std::string_view before, std::size_t count) override {
    const std::string_view open = before.substr(before.find_last_of(' ') + 1);
    std::vector<std::string> list;
    for (const std::string& word : words_) {
      if (word.starts_with(open) && list.size() < count) list.push_back(word);
    }
    return list;
  }
  std::size_t lines = 0;

 private:
  std::vector<std::string> words_;
};

// The promise that makes the table fair: asked by the peers' rules, our engine gets the figures
// that `eval ksr` gives it.
TEST(PeerMeasure, JudgesOursAsEvalKsrDoes) {
  const std::vector<std::string> lines{"I will see you tomorrow", "Please send me the notes, ok?",
                                       "thank you"};
  const KsrOptions options{.slots = {1, 3, 5}};
  EnginePredictor ours(predict::full_engine());
  const auto as_peer = measure_keystrokes(ours, lines, options);
  const auto as_ours = evaluate_ksr(predict::full_engine(), lines, options);
  ASSERT_TRUE(as_peer && as_ours);
  EXPECT_EQ(as_peer->keystrokes, as_ours->keystrokes);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(as_peer->slots[i].keys_used, as_ours->slots[i].keys_used) << i;
    EXPECT_EQ(as_peer->slots[i].next_word_hits, as_ours->slots[i].next_word_hits) << i;
    EXPECT_DOUBLE_EQ(as_peer->slots[i].saved_interval.low, as_ours->slots[i].saved_interval.low);
  }
  EXPECT_GT(as_ours->slots[2].saved, 0);
}

TEST(PeerMeasure, CountsKeysByHand) {
  Fixed peer({"hello", "world", "help"});
  // "hello": first in the list at once (1 key of 6); "help" second; "zz" never.
  const auto result = measure_keystrokes(peer, {"Hello zz help"}, {.slots = {1, 3}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->keystrokes, 6U + 3U + 4U);
  EXPECT_EQ(result->slots[0].keys_used, 1U + 3U + 4U);  // "hel" still names hello first
  EXPECT_EQ(result->slots[1].keys_used, 1U + 3U + 1U);
  EXPECT_EQ(result->slots[1].next_word_hits, 2U);
  EXPECT_EQ(peer.lines, 1U);
}

TEST(PeerMeasure, CountsWordStartsAsTheTextGoesOn) {
  // 我们|明天|去: the first place is left out.
  const MarkedLine line{"我们明天去", {0, 6, 12}};
  Fixed goes_on({"我", "明", "去"});
  const auto prefix = measure_word_starts(goes_on, {line}, {});
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->places, 2U);
  EXPECT_DOUBLE_EQ(prefix->top3, 0);  // the fixture looks for the whole text as an open word
  class Always : public Fixed {
   public:
    using Fixed::Fixed;
    Result<std::vector<std::string>> offers(std::string_view, std::size_t count) override {
      return Fixed::offers("", count);
    }
  };
  Always always({"明", "去", "明天", "很"});
  const auto hits = measure_word_starts(always, {line}, {});
  ASSERT_TRUE(hits);
  EXPECT_DOUBLE_EQ(hits->top1, 0.5);  // 明 begins 明天
  EXPECT_DOUBLE_EQ(hits->top3, 1);
  EXPECT_DOUBLE_EQ(hits->exact3, 1);
  const auto characters = measure_next_characters(always, {"明天"}, {});
  ASSERT_TRUE(characters);
  EXPECT_EQ(characters->characters, 2U);
  EXPECT_EQ(characters->top1, 1U);
}

TEST(PeerMeasure, RefusesNonsense) {
  Fixed peer({"a"});
  EXPECT_EQ(measure_keystrokes(peer, {"a"}, {.slots = {0}}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(measure_keystrokes(peer, {" "}, {}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(measure_word_starts(peer, {}, {}).error().code, ErrorCode::BadArgument);
}

}  // namespace
}  // namespace laya::eval

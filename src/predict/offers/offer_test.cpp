#include "predict/offers/offer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "predict/session/test_engine.h"

namespace laya::predict {
namespace {

/// Offers what it was made with, wherever it is asked.
class FixedSource : public OfferSource {
 public:
  explicit FixedSource(std::vector<Offer> offers) : offers_(std::move(offers)) {}
  void offer(const TypedText&, const WordQuery&, const WordPool&, OfferList* out) override {
    for (const Offer& one : offers_) {
      out->add(one);
    }
  }

 private:
  std::vector<Offer> offers_;
};

std::shared_ptr<const Engine> engine_with(std::vector<Offer> offers) {
  EngineParts parts = table_parts();
  parts.offer_sources.push_back([offers] { return std::make_unique<FixedSource>(offers); });
  return build_or_abort(std::move(parts));
}

std::vector<Candidate> list_of(const Engine& engine, std::string_view before,
                               std::vector<std::string>* texts, std::size_t wanted = 5) {
  Session session(engine);
  session.set_text({.revision = 1, .before = before});
  const Reply& reply = session.decide({.candidates = wanted, .ghost = Want::No});
  std::vector<Candidate> list(reply.candidates.begin(), reply.candidates.end());
  for (Candidate& candidate : list) {
    texts->emplace_back(candidate.text);
  }
  return list;
}

TEST(OfferList, KeepsTheLikeliestAndOfTheSameTextTheLikelier) {
  OfferList list;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 2 * OfferList::kCapacity; ++i) {
    names.push_back("word" + std::to_string(i));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    list.add({.text = names[i], .log_prob = -static_cast<float>(names.size() - i)});
  }
  ASSERT_EQ(list.offers().size(), OfferList::kCapacity);
  for (const Offer& offer : list.offers()) {
    EXPECT_GE(offer.score(), -static_cast<float>(OfferList::kCapacity));
  }
  list.add({.text = names.back(), .log_prob = -0.5F});
  list.add({.text = names.back(), .log_prob = -90});
  const auto same = std::count_if(list.offers().begin(), list.offers().end(), [&](const Offer& o) {
    return o.text == names.back() && o.score() == -0.5F;
  });
  EXPECT_EQ(same, 1);
  EXPECT_EQ(list.offers().size(), OfferList::kCapacity);
}

TEST(OfferList, LeavesOutWhatIsEmptyOrImpossible) {
  OfferList list;
  list.add({.text = "", .log_prob = -1});
  list.add({.text = "a", .log_prob = kImpossible});
  list.add({.text = "b", .log_prob = std::nanf("")});
  EXPECT_TRUE(list.offers().empty());
}

TEST(Offers, StandAmongTheWordsByTheirProbability) {
  const auto engine =
      engine_with({{.text = "tomfoolery", .log_prob = -0.01F, .origin = Origin::Lexicon}});
  Session session(*engine);
  session.set_text({.revision = 1, .before = "see you tom"});
  const auto list = session.decide({.ghost = Want::No}).candidates;
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list[0].text, "tomfoolery");
  EXPECT_EQ(list[0].insert, "foolery");
  EXPECT_EQ(list[0].origin, Origin::Lexicon);
  EXPECT_EQ(list[0].erase_before, 0);
}

TEST(Offers, ThatDoNotGoOnFromWhatIsTypedAreDropped) {
  const auto engine = engine_with({{.text = "zebra", .log_prob = -0.01F},
                                   {.text = "tom", .log_prob = -0.01F},
                                   {.text = "x", .erase_bytes = 900, .log_prob = -0.01F}});
  std::vector<std::string> texts;
  list_of(*engine, "see you tom", &texts, 10);
  for (const std::string& text : texts) {
    EXPECT_TRUE(text.starts_with("tom") && text.size() > 3) << text;
  }
}

TEST(Offers, AWordThatThePoolHasIsNotListedTwice) {
  const auto engine =
      engine_with({{.text = "tomorrow", .log_prob = -0.01F, .origin = Origin::Lexicon}});
  std::vector<std::string> texts;
  list_of(*engine, "see you tom", &texts, 10);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), "tomorrow"), 1);
}

TEST(Offers, ACorrectionSaysWhatItTakesAwayAndInsertsAll) {
  const auto engine = engine_with({{.text = "tomorrow",
                                    .erase_bytes = 4,
                                    .log_prob = -2,
                                    .log_noise = -1,
                                    .origin = Origin::Correction}});
  std::vector<std::string> texts;
  const auto list = list_of(*engine, "see you tmor", &texts);
  const auto found = std::find(texts.begin(), texts.end(), "tomorrow");
  ASSERT_NE(found, texts.end());
  const Candidate& candidate = list[static_cast<std::size_t>(found - texts.begin())];
  EXPECT_EQ(candidate.erase_before, 4);
  EXPECT_EQ(candidate.insert.size(), candidate.text.size());
  EXPECT_EQ(candidate.origin, Origin::Correction);
}

TEST(Offers, ACorrectionIsNotFirstWhereWordsGoOnFromWhatIsTyped) {
  std::vector<std::string> plain;
  const auto best = list_of(table_engine(), "see you tom", &plain);
  ASSERT_FALSE(best.empty());
  // A little likelier than the best word: not enough.
  const auto engine = engine_with({{.text = "team",
                                    .erase_bytes = 3,
                                    .log_prob = best[0].log_prob + 1,
                                    .origin = Origin::Correction}});
  std::vector<std::string> texts;
  list_of(*engine, "see you tom", &texts);
  EXPECT_EQ(texts[0], plain[0]);
  EXPECT_EQ(texts[1], "team");
}

TEST(Offers, NothingButEmojiInAnAddress) {
  const auto engine = engine_with(
      {{.text = "example", .log_prob = -0.01F},
       {.text = "\xF0\x9F\x98\x80", .erase_bytes = 3, .log_prob = -1, .origin = Origin::Emoji}});
  std::vector<std::string> texts;
  list_of(*engine, "www.exa", &texts);
  EXPECT_EQ(texts, std::vector<std::string>{"\xF0\x9F\x98\x80"});
}

TEST(Offers, NeverBeginTheGhost) {
  const auto engine =
      engine_with({{.text = "tomfoolery", .log_prob = -0.001F, .origin = Origin::Lexicon}});
  const Answer answer = ask(*engine, "see you tom");
  EXPECT_FALSE(answer.ghost.starts_with("fool"));
}

TEST(Offers, CostNoAllocation) {
  const auto engine = engine_with(
      {{.text = "tomfoolery", .log_prob = -1, .origin = Origin::Lexicon},
       {.text = "tim", .erase_bytes = 3, .log_prob = -2, .origin = Origin::Correction}});
  Session session(*engine);
  session.warm_up();
  session.set_text({.revision = 1, .before = "see you tom"});
  session.decide({});
  base::AllocationScope scope;
  session.decide({});
  EXPECT_EQ(scope.count(), 0U);
}

}  // namespace
}  // namespace laya::predict

#include "predict/list/ranker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "base/test_folder.h"
#include "predict/session/test_engine.h"
#include "predict/source/typing_memory.h"

namespace laya::predict {
namespace {

std::size_t column(std::string_view name) {
  const auto found = std::find(kRankFeatureNames.begin(), kRankFeatureNames.end(), name);
  EXPECT_NE(found, kRankFeatureNames.end()) << name;
  return static_cast<std::size_t>(found - kRankFeatureNames.begin());
}

/// A ranker whose score is `weight` x the feature `name`.
std::unique_ptr<const Ranker> single(const base::TestFolder& folder, const std::string& name,
                                     float weight) {
  const model::DecisionConfig config = model::default_ranker_config({name});
  model::DecisionWeights weights = model::random_decision_weights(config, 1);
  const auto tensors = model::decision_tensors(config);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name.starts_with("out.") || tensors[i].name == "skip.weight") {
      std::fill(weights[i].begin(), weights[i].end(),
                tensors[i].name == "skip.weight" ? weight : 0);
    }
  }
  const std::string path = (folder.path() / "ranker.laya").string();
  EXPECT_TRUE(model::write_decision_model(path, config, weights, "{}"));
  auto ranker = Ranker::open(path);
  EXPECT_TRUE(ranker) << (ranker ? "" : ranker.error().message);
  return ranker ? std::move(*ranker) : nullptr;
}

std::shared_ptr<const Engine> engine_with(std::unique_ptr<const Ranker> ranker) {
  EngineParts parts = table_parts();
  parts.ranker = std::move(ranker);
  return build_or_abort(std::move(parts));
}

std::vector<float> feature(Session& session, std::string_view name) {
  session.decide({.candidates = 5, .ghost = Want::No, .rank_features = Want::Yes});
  const RankView view = session.rank_view();
  std::vector<float> values;
  for (std::size_t i = 0; i < view.keys.size(); ++i) {
    values.push_back(view.rows[i * kRankFeatures + column(name)]);
  }
  return values;
}

TEST(RankFeatures, AreFiniteAndInTheirPlaces) {
  Session session(full_engine());
  session.set_text({.revision = 1, .before = "See you tomorrow. Call me to"});
  session.decide({.candidates = 5, .ghost = Want::No, .rank_features = Want::Yes});
  const RankView view = session.rank_view();
  ASSERT_FALSE(view.keys.empty());
  ASSERT_EQ(view.rows.size(), view.keys.size() * kRankFeatures);
  for (const float value : view.rows) {
    EXPECT_TRUE(std::isfinite(value));
  }
  for (std::size_t i = 0; i < view.keys.size(); ++i) {
    const float* row = view.rows.data() + i * kRankFeatures;
    EXPECT_FLOAT_EQ(row[column("length")], static_cast<float>(view.keys[i].size()) / 10);
    EXPECT_FLOAT_EQ(row[column("typed")], 0.2F);
    EXPECT_EQ(row[column("recent")] > 0, view.keys[i] == "tomorrow" || view.keys[i] == "you");
  }
}

TEST(RankFeatures, SayWhatWasPassedOverAndWhatIsTextOnTheRight) {
  Session session(table_engine());
  session.set_text({.revision = 1, .before = "see you t", .after = " now"});
  EXPECT_EQ(feature(session, "text_after")[0], 1);
  for (const float passed : feature(session, "passed")) {
    EXPECT_EQ(passed, 0);
  }
  ASSERT_TRUE(session.edit({.revision = 2, .insert = "o"}));
  const std::vector<float> passed = feature(session, "passed");
  EXPECT_GT(std::count(passed.begin(), passed.end(), 1.0F), 0);
}

TEST(RankFeatures, KnowWhatWasAcceptedAndTheRhythm) {
  Session session(table_engine());
  session.set_text({.revision = 1, .before = "see you tom"});
  const Reply& reply = session.decide({.candidates = 3});
  ASSERT_FALSE(reply.candidates.empty());
  const std::string taken(reply.candidates[0].insert);
  ASSERT_TRUE(session.edit({.revision = 2, .insert = taken + " ", .at_ms = 1000}));
  ASSERT_TRUE(session.edit({.revision = 3, .insert = "t", .at_ms = 1100}));
  ASSERT_TRUE(session.edit({.revision = 4, .insert = "o", .at_ms = 3100}));
  const std::vector<float> accepted = feature(session, "accepted");
  EXPECT_GT(*std::max_element(accepted.begin(), accepted.end()), 0);
  EXPECT_GT(feature(session, "interval")[0], 0);
  session.clear();
  session.set_text({.revision = 5, .before = "see you to"});
  for (const float again : feature(session, "accepted")) {
    EXPECT_EQ(again, 0);
  }
}

TEST(TypingMemory, TakesTimeThatIsNotToldForTheUsual) {
  TypingMemory memory;
  memory.key(0, 0, 1);
  memory.key(0, 1, 0);
  EXPECT_EQ(memory.interval_change(), 0);
  EXPECT_GT(memory.deletions(), 0);
  const float before = memory.deletions();
  memory.key(50, 0, 1);
  EXPECT_LT(memory.deletions(), before);
}

TEST(Ranker, OrdersTheListByItsScores) {
  const base::TestFolder folder;
  auto ranker = single(folder, "length", 1);
  ASSERT_NE(ranker, nullptr);
  const auto engine = engine_with(std::move(ranker));
  const Answer ranked = ask(*engine, "see you t");
  const Answer plain = ask(table_engine(), "see you t");
  ASSERT_GT(ranked.texts.size(), 2U);
  EXPECT_NE(ranked.texts, plain.texts);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_GE(ranked.texts[i - 1].size(), ranked.texts[i].size());
  }
}

TEST(Ranker, LeavesEqualScoresInTheirOrder) {
  const base::TestFolder folder;
  auto ranker = single(folder, "typed", 1);
  ASSERT_NE(ranker, nullptr);
  const auto engine = engine_with(std::move(ranker));
  EXPECT_EQ(ask(*engine, "see you t").texts, ask(table_engine(), "see you t").texts);
}

TEST(Ranker, RefusesFeaturesThatItDoesNotKnow) {
  const base::TestFolder folder;
  const model::DecisionConfig config = model::default_ranker_config({"score", "moon_phase"});
  const std::string path = (folder.path() / "ranker.laya").string();
  ASSERT_TRUE(
      model::write_decision_model(path, config, model::random_decision_weights(config, 1), "{}"));
  const auto ranker = Ranker::open(path);
  ASSERT_FALSE(ranker);
  EXPECT_NE(ranker.error().message.find("moon_phase"), std::string::npos);
}

TEST(Ranker, AllocatesNothing) {
  const base::TestFolder folder;
  auto ranker = single(folder, "length", 1);
  ASSERT_NE(ranker, nullptr);
  const auto engine = engine_with(std::move(ranker));
  Session session(*engine);
  session.warm_up();
  session.set_text({.revision = 1, .before = "see you t"});
  session.decide({});
  base::AllocationScope scope;
  session.decide({});
  EXPECT_EQ(scope.count(), 0U);
}

TEST(ListTaste, DiversityTakesWordsOfOtherBeginnings) {
  Session session(table_engine());
  const auto list = [&](float diversity) {
    session.set_text({.revision = 1, .before = "see you t"});
    const Reply& reply =
        session.decide({.candidates = 5, .ghost = Want::No, .taste = {.diversity = diversity}});
    std::vector<std::string> texts;
    for (const Candidate& candidate : reply.candidates) {
      texts.emplace_back(candidate.text);
    }
    session.clear();
    return texts;
  };
  const std::vector<std::string> plain = list(0);
  const std::vector<std::string> diverse = list(50);
  ASSERT_EQ(plain.size(), diverse.size());
  EXPECT_EQ(plain[0], diverse[0]);
  const auto beginnings = [](const std::vector<std::string>& texts) {
    std::vector<std::string> firsts;
    for (const std::string& text : texts) {
      firsts.push_back(text.substr(0, 2));
    }
    std::sort(firsts.begin(), firsts.end());
    firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
    return firsts.size();
  };
  EXPECT_GE(beginnings(diverse), beginnings(plain));
}

}  // namespace
}  // namespace laya::predict

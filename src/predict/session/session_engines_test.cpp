// Sessions and the engine they use: how light a session is, how benches and turns are shared, and
// how an engine is swapped while people type.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "observe/memory_figures.h"
#include "predict/engine/engine_slot.h"
#include "predict/engine/parked_states.h"
#include "predict/engine/text_field.h"
#include "predict/engine/workbench_pool.h"
#include "predict/session/test_engine.h"
#include "predict/session/test_shipped_engine.h"
#include "predict/source/block_list.h"

namespace laya::predict {
namespace {

std::string numbered(std::size_t i) {
  return "see you " + std::string(i % 3 == 0 ? "tom" : i % 3 == 1 ? "t" : "");
}

std::uint64_t private_bytes() {
  const auto figures = observe::read_memory_figures();
  EXPECT_TRUE(figures);
  return figures ? figures->private_bytes : 0;
}

TEST(TextField, IsSmall) {
  EXPECT_LE(sizeof(TextField) + 2 * kKeptBytes + kKeptAfterBytes, 65536u);
}

// Whoever has the bench: a session's answers are those that it would get alone.
TEST(WorkbenchPool, SessionsThatShareABenchDoNotSeeEachOther) {
  const auto one = build_or_abort(full_parts(), {.workbenches = 1});
  const auto many = build_or_abort(full_parts(), {.workbenches = 8});
  std::vector<Session> shared;
  std::vector<Session> alone;
  for (std::size_t i = 0; i < 6; ++i) {
    shared.emplace_back(*one);
    alone.emplace_back(*many);
    for (Session* session : {&shared.back(), &alone.back()}) {
      session->set_text({.revision = 1, .before = numbered(i)});
    }
  }
  for (const char key : std::string_view("omorrow thank you very much ")) {
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const Edit edit{.revision = 2, .insert = {&key, 1}};
      ASSERT_TRUE(shared[i].edit(edit));
      ASSERT_TRUE(alone[i].edit(edit));
      const Answer a = copy_of(shared[i].decide({}));
      const Answer b = copy_of(alone[i].decide({}));
      EXPECT_EQ(a.texts, b.texts) << i << " " << key;
      EXPECT_EQ(a.log_probs, b.log_probs) << i << " " << key;
      EXPECT_EQ(a.ghost, b.ghost) << i << " " << key;
    }
  }
  EXPECT_EQ(one->workbenches().benches(), 1u);
}

TEST(WorkbenchPool, ASessionThatComesBackDoesNotReadItsTextAgain) {
  const auto engine = build_or_abort(full_parts(), {.workbenches = 1});
  Session first(*engine);
  Session second(*engine);
  const std::string text = "thank you very much for the very very much thank you see you tomorrow ";
  first.set_text({.revision = 1, .before = text});
  first.decide({});
  second.set_text({.revision = 1, .before = "see you "});
  second.decide({});
  EXPECT_EQ(engine->workbenches().parked(), 1u);
  const std::uint64_t before = first.passes();
  ASSERT_TRUE(first.edit({.revision = 2, .insert = "at "}));
  first.decide({.ghost = Want::No});
  EXPECT_LE(first.passes() - before, 4u) << "14 tokens stand before the caret";
}

TEST(WorkbenchPool, AClosedFieldLeavesNothingBehind) {
  const auto engine = build_or_abort(full_parts(), {.workbenches = 1});
  Session first(*engine);
  first.set_text({.revision = 1, .before = "see you tomorrow "});
  first.decide({});
  {
    Session second(*engine);
    second.set_text({.revision = 1, .before = "thank you "});
    second.decide({});
  }
  EXPECT_EQ(engine->workbenches().parked(), 1u);  // the first's
  first.set_text({.revision = 2, .before = "secret", .kind = FieldKind::Password});
  EXPECT_EQ(engine->workbenches().parked(), 0u);
}

TEST(ParkedStates, TheLeastRecentlyParkedGoWhenMemoryIsFull) {
  model::GruConfig config = test_network()->config();
  const NetworkPlace place{model::State(config), std::vector<TokenId>(10)};
  ParkedStates states(3 * place.size_bytes());
  for (SessionId session = 1; session <= 4; ++session) {
    states.park(session, place);
  }
  EXPECT_EQ(states.size(), 3u);
  EXPECT_LE(states.size_bytes(), 3 * place.size_bytes());
  EXPECT_FALSE(states.take(1).has_value());
  EXPECT_TRUE(states.take(2).has_value());
  EXPECT_FALSE(states.take(2).has_value());
  states.forget(3);
  EXPECT_EQ(states.size(), 1u);
}

// The memory of a thousand open fields; a hundred megabytes is what the issue of a desktop full of
// windows allows.
TEST(Session, AThousandOpenFieldsTakeAHundredMegabytes) {
  std::vector<Session> sessions;
  sessions.reserve(1000);
  {  // benches and pages of the models are there before
    Session warm(shipped_engine());
    warm.warm_up();
  }
  const std::uint64_t before = private_bytes();
  for (std::size_t i = 0; i < 1000; ++i) {
    sessions.emplace_back(shipped_engine());
    sessions.back().set_text({.revision = 1, .before = "we will meet you tomorrow, 我们明天"});
    ASSERT_FALSE(sessions.back().decide({}).candidates.empty());
  }
  EXPECT_LE(private_bytes() - before, 100'000'000u);
}

TEST(Session, GoesOnWithTheNewEngineAtItsNextEdit) {
  EngineSlot slot(build_or_abort(table_parts()));
  Session session(slot);
  session.set_text({.revision = 1, .before = "see you to"});
  const Answer old = copy_of(session.decide({}));
  EXPECT_EQ(old.texts.at(0), "tomorrow");
  EngineParts parts = table_parts();
  parts.block_list =
      std::make_shared<const BlockList>(*BlockList::parse("[en test]\ntomorrow\n", "list"));
  std::weak_ptr<const Engine> first = slot.current();
  slot.swap(build_or_abort(std::move(parts)));
  EXPECT_EQ(copy_of(session.decide({})).texts, old.texts) << "no edit yet";
  EXPECT_FALSE(first.expired());
  ASSERT_TRUE(session.edit({.revision = 2, .insert = "m"}));
  EXPECT_TRUE(first.expired()) << "nobody uses it any more";
  for (const std::string& text : copy_of(session.decide({.candidates = 10})).texts) {
    EXPECT_NE(text, "tomorrow");
    EXPECT_EQ(text.substr(0, 3), "tom") << "the text was carried over";
  }
}

// Under TSan this is the test of the hand-over.
TEST(Session, SixteenTypeWhileTheEngineIsSwapped) {
  EngineSlot slot(build_or_abort(full_parts(), {.workbenches = 3}));
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> users;
  for (std::size_t user = 0; user < 16; ++user) {
    users.emplace_back([&slot, &wrong, user] {
      Session session(slot);
      std::string before = numbered(user);
      session.set_text({.revision = 1, .before = before});
      std::uint64_t revision = 1;
      for (const char key : std::string_view("tomorrow thank you ")) {
        before += key;
        wrong += session.edit({.revision = ++revision, .insert = {&key, 1}}) ? 0 : 1;
        const Reply& reply = session.decide({.ghost = Want::No});
        wrong += reply.revision == revision ? 0 : 1;
        for (const Candidate& candidate : reply.candidates) {
          wrong += candidate.text.ends_with(candidate.insert) ? 0 : 1;
        }
      }
    });
  }
  std::thread swapper([&] {
    for (int i = 0; i < 8 && !stop; ++i) {
      slot.swap(build_or_abort(i % 2 == 0 ? table_parts() : full_parts(), {.workbenches = 3}));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (std::thread& user : users) {
    user.join();
  }
  stop = true;
  swapper.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace laya::predict

// Two tiers in one session: what is answered when, on which thread, and what is never asked.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <thread>

#include "base/allocation_counter.h"
#include "base/clock.h"
#include "base/test_folder.h"
#include "base/utf8.h"
#include "predict/deep/test_deep_models.h"
#include "predict/deep/test_slow_decoder.h"
#include "predict/engine/deep_service.h"
#include "predict/session/test_engine.h"

namespace laya::predict {
namespace {

/// Table, network and a slow decoder; even shares.
struct TwoTiers {
  TwoTiers() {
    Mixing mixing = even_mixing();
    for (auto& row : mixing.word_deep) {
      row.fill(0.5F);
    }
    mixing.han_deep.fill(0.5F);
    EngineParts parts = full_parts();
    auto tokenizer = std::make_unique<text::SubwordTokenizer>(small_tokenizer());
    parts.decoder = std::make_unique<SlowDecoder>(tokenizer->size(), watch);
    parts.decoder_tokenizer = std::move(tokenizer);
    engine = build_or_abort(std::move(parts), {.mixing = &mixing});
  }
  std::shared_ptr<SlowDecoderWatch> watch = std::make_shared<SlowDecoderWatch>();
  std::shared_ptr<const Engine> engine;
};

Answer ask_instantly(const Engine& engine, std::string_view before) {
  Session session(engine);
  session.set_text({.revision = 1, .before = before});
  return copy_of(session.decide({.deep = Want::No}));
}

double ms_since(std::int64_t begin) {
  return static_cast<double>(base::monotonic_ns() - begin) / 1e6;
}

TEST(SessionDeep, WaitsForTheDecoderWhenAskedTo) {
  TwoTiers two;
  Session session(*two.engine);
  session.set_text({.revision = 3, .before = "see you "});
  const Reply& reply = session.decide({.deep_wait_us = kUntilDone});
  EXPECT_EQ(reply.tier, Tier::Deep);
  EXPECT_EQ(reply.ghost_tier, Tier::Deep);
  EXPECT_EQ(reply.revision, 3u);
  EXPECT_GT(reply.deep_passes, 0u);
  EXPECT_FALSE(session.deep_pending());
  EXPECT_EQ(session.deep_reply(0), nullptr);
}

TEST(SessionDeep, WithoutTheDecoderTheInstantTierIsAsBefore) {
  TwoTiers two;
  Session session(*two.engine);
  session.set_text({.revision = 1, .before = "see you tom"});
  const Answer got = copy_of(session.decide({.candidates = 10, .deep = Want::No}));
  EXPECT_EQ(got.texts, ask(full_engine(), "see you tom").texts);
  EXPECT_EQ(got.ghost, ask(full_engine(), "see you tom").ghost);
  EXPECT_EQ(two.watch->passes.load(), 0);
}

// The instant tier at once; the decoder's list, then its ghost, when they are there.
TEST(SessionDeep, AnswersAtOnceAndBringsTheRestLater) {
  TwoTiers two;
  Session waiting(*two.engine);
  waiting.set_text({.revision = 7, .before = "thank you very "});
  const Answer whole = copy_of(waiting.decide({.candidates = 5, .deep_wait_us = kUntilDone}));

  Session session(*two.engine);
  session.warm_up();
  two.watch->layer_us = 4000;  // a pass: 80 ms
  session.set_text({.revision = 7, .before = "thank you very "});
  const std::int64_t begin = base::monotonic_ns();
  const Answer instant = copy_of(session.decide({}));
  EXPECT_LT(ms_since(begin), 70);  // 7.4 and what a busy machine adds
  EXPECT_EQ(instant.texts, ask_instantly(*two.engine, "thank you very ").texts);
  EXPECT_TRUE(session.deep_pending());
  EXPECT_EQ(session.deep_reply(0), nullptr);

  const Reply* list = session.deep_reply(kUntilDone);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->revision, 7u);
  EXPECT_EQ(list->tier, Tier::Deep);
  EXPECT_EQ(copy_of(*list).texts, whole.texts);
  EXPECT_EQ(copy_of(*list).log_probs, whole.log_probs);
  const Reply* ghost = list->ghost_tier == Tier::Deep ? list : session.deep_reply(kUntilDone);
  ASSERT_NE(ghost, nullptr);
  EXPECT_EQ(ghost->ghost_tier, Tier::Deep);
  EXPECT_EQ(copy_of(*ghost).texts, whole.texts);
  EXPECT_EQ(copy_of(*ghost).ghost, whole.ghost);
  EXPECT_GE(ghost->latency.deep_us, 20'000);
  EXPECT_EQ(session.deep_reply(kUntilDone), nullptr);
  EXPECT_FALSE(session.deep_pending());
}

TEST(SessionDeep, TheDescriptorWakesAFrontEnd) {
  TwoTiers two;
  Session session(*two.engine);
  two.watch->layer_us = 1000;
  ASSERT_GE(session.deep_fd(), 0);
  session.set_text({.revision = 1, .before = "see you "});
  session.decide({.deep_wait_us = 0});
  ASSERT_TRUE(session.deep_pending());
  int answers = 0;
  while (session.deep_pending()) {
    pollfd what{session.deep_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&what, 1, 20'000), 1);
    answers += session.deep_reply(0) != nullptr ? 1 : 0;
  }
  EXPECT_GE(answers, 1);
  EXPECT_LE(answers, 2);
  pollfd what{session.deep_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&what, 1, 0), 0);
}

// Complaint: an older answer must never be shown. And the next key does not wait for the decoder:
// it stops within about one layer.
TEST(SessionDeep, AnEditTakesTheQuestionBackWithinALayer) {
  TwoTiers two;
  Session session(*two.engine);
  session.warm_up();
  two.watch->layer_us = 10'000;  // a pass: 200 ms
  std::string text = "see you ";
  session.set_text({.revision = 1, .before = text});
  std::vector<double> waits;
  for (std::uint64_t key = 2; key < 12; ++key) {
    session.decide({.deep_wait_us = 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    const std::int64_t begin = base::monotonic_ns();
    ASSERT_TRUE(session.edit({.revision = key, .insert = key % 2 == 0 ? "the " : "tom "}));
    waits.push_back(ms_since(begin));
    EXPECT_EQ(session.deep_reply(kUntilDone), nullptr);
    EXPECT_FALSE(session.deep_pending());
  }
  std::sort(waits.begin(), waits.end());
  EXPECT_LT(waits[waits.size() / 2], 40) << "a layer takes 10 ms, a pass 200";
  EXPECT_GE(two.watch->cancelled.load(), 5);
  two.watch->layer_us = 0;
  session.decide({.deep_wait_us = 0});
  const Reply* reply = session.deep_reply(kUntilDone);
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->revision, 11u);
}

// Password, PIN, private and terminal fields: not one byte reaches the decoder.
TEST(SessionDeep, BlockedFieldsNeverReachTheWorker) {
  TwoTiers two;
  for (const FieldKind kind :
       {FieldKind::Password, FieldKind::Pin, FieldKind::Private, FieldKind::Terminal}) {
    Session session(*two.engine);
    session.set_text({.revision = 1, .before = "see you ", .kind = kind});
    for (const char* key : {"t", "o", "m", " "}) {
      ASSERT_TRUE(session.edit({.revision = 2, .insert = key}));
      EXPECT_EQ(session.decide({.deep_wait_us = kUntilDone}).silence, Silence::FieldBlocked);
      EXPECT_EQ(session.deep_reply(kUntilDone), nullptr);
      std::array<NextHan, 4> han;
      EXPECT_EQ(session.next_han(han), 0u);
    }
    EXPECT_EQ(session.bytes_read(), 0u);
  }
  EXPECT_EQ(two.watch->passes.load(), 0);

  // From a text field to a password while the decoder works: it stops, and starts no more.
  Session session(*two.engine);
  two.watch->layer_us = 2000;
  session.set_text({.revision = 1, .before = "see you "});
  session.decide({.deep_wait_us = 0});
  session.set_text({.revision = 2, .before = "secret", .kind = FieldKind::Password});
  const int passes = two.watch->passes.load();
  two.watch->layer_us = 0;
  session.decide({.deep_wait_us = kUntilDone});
  ASSERT_TRUE(session.edit({.revision = 3, .insert = "x"}));
  session.decide({.deep_wait_us = kUntilDone});
  EXPECT_EQ(session.deep_reply(kUntilDone), nullptr);
  EXPECT_EQ(two.watch->passes.load(), passes);
}

TEST(SessionDeep, BlurDropsWhatWasAsked) {
  TwoTiers two;
  Session session(*two.engine);
  two.watch->layer_us = 2000;
  session.set_text({.revision = 1, .before = "see you "});
  session.decide({.deep_wait_us = 0});
  session.clear();
  EXPECT_EQ(session.deep_reply(kUntilDone), nullptr);
  two.watch->layer_us = 0;
  session.set_text({.revision = 2, .before = "thank "});
  const Reply& reply = session.decide({.deep_wait_us = kUntilDone});
  EXPECT_EQ(reply.tier, Tier::Deep);
  EXPECT_EQ(copy_of(reply).texts, [&] {
    Session fresh(*two.engine);
    fresh.set_text({.revision = 2, .before = "thank "});
    return copy_of(fresh.decide({.deep_wait_us = kUntilDone})).texts;
  }());
}

// The rules of the ghost hold for the decoder's, too.
TEST(SessionDeep, TheVerifiedGhostKeepsTheRules) {
  TwoTiers two;
  for (const char* before :
       {"", "s", "see you tom", "see you ", "Thank you for ", "我们", "我们明天去", "TOM",
        "top-dow", "a, ", "foo@ba", "12", "see you tomorrow. "}) {
    SCOPED_TRACE(before);
    for (const char* after : {"", "tomorrow", "morrow", " you"}) {
      Session session(*two.engine);
      session.set_text({.revision = 1, .before = before, .after = after});
      const Reply& reply = session.decide({.deep_wait_us = kUntilDone});
      if (!reply.has_ghost) {
        continue;
      }
      const std::string ghost(reply.ghost.text);
      EXPECT_TRUE(base::is_valid_utf8(ghost));
      EXPECT_EQ(ghost.find('\n'), std::string::npos);
      EXPECT_EQ(ghost.find("  "), std::string::npos);
      EXPECT_LE(reply.ghost.log_prob, 0);
      EXPECT_TRUE(std::any_of(ghost.begin(), ghost.end(),
                              [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }) ||
                  static_cast<unsigned char>(ghost[0]) >= 0x80);
    }
  }
}

TEST(SessionDeep, AllocatesNothingAfterWarmUp) {
  TwoTiers two;
  Session session(*two.engine);
  session.warm_up();
  const auto type = [&] {
    std::uint64_t revision = 1;
    session.set_text({.revision = revision, .before = {}});
    for (const char key : std::string_view("see you tomorrow at the, thank you very much ")) {
      ASSERT_TRUE(session.edit({.revision = ++revision, .insert = std::string_view(&key, 1)}));
      session.decide({.deep_wait_us = 0});
      while (session.deep_pending()) {
        session.deep_reply(kUntilDone);
      }
    }
  };
  type();
  type();
  base::AllocationScope scope;
  type();
  EXPECT_EQ(scope.count(), 0u);
}

TEST(SessionDeep, SessionsOnSeveralThreadsShareTheWorker) {
  TwoTiers two;
  const std::string want = [&] {
    Session session(*two.engine);
    session.set_text({.revision = 1, .before = "see you "});
    return copy_of(session.decide({.deep_wait_us = kUntilDone})).texts.at(0);
  }();
  std::vector<std::thread> users;
  std::atomic<int> wrong{0};
  for (int user = 0; user < 3; ++user) {
    users.emplace_back([&, user] {
      Session session(*two.engine);
      for (std::uint64_t i = 1; i < 15; ++i) {
        session.set_text({.revision = i, .before = "see you "});
        const Reply& reply = session.decide({.deep_wait_us = user == 0 ? kUntilDone : 0});
        if (reply.tier == Tier::Deep) {
          wrong += reply.candidates[0].text == want ? 0 : 1;
        }
        if (i % 3 != 0) {
          const Reply* late = session.deep_reply(kUntilDone);
          wrong += late != nullptr && (late->revision != i || late->candidates[0].text != want);
        }
        wrong += session.edit({.revision = i, .insert = "t"}).has_value() ? 0 : 1;
      }
    });
  }
  for (std::thread& user : users) {
    user.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST(SessionDeep, WorksWithoutTheFileAndSaysWhatIsWrong) {
  const base::TestFolder folder;
  const std::string table = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya";
  const EnginePaths paths{.ngram_path = table, .deep_path = folder.file("absent.laya")};
  const auto now = Engine::open(paths, {});
  ASSERT_FALSE(now);
  EXPECT_NE(now.error().message.find("absent.laya"), std::string::npos);
  auto later = Engine::open(paths, {.deep_loading = DeepLoading::WhenWanted});
  ASSERT_TRUE(later) << later.error().message;
  Session session(**later);
  EXPECT_EQ(session.deep_state(), DeepState::Waiting);
  session.set_text({.revision = 1, .before = "see you tom"});
  const Reply& reply = session.decide({});
  EXPECT_EQ(reply.tier, Tier::Instant);
  EXPECT_EQ(reply.candidates[0].text, "tomorrow");
  EXPECT_FALSE((*later)->deep_service()->load());  // waits for the worker's own attempt
  EXPECT_EQ(session.deep_state(), DeepState::Failed);
  EXPECT_NE((*later)->deep_service()->failure()->message.find("absent.laya"), std::string::npos);
  EXPECT_EQ(session.decide({.deep_wait_us = kUntilDone}).candidates[0].text, "tomorrow");
  EXPECT_EQ(session.deep_reply(kUntilDone), nullptr);
}

TEST(SessionDeep, LoadsNothingBeyondTheMemorySetting) {
  const Status fits = check_deep_memory(100, "m.laya", 99'000'000, 1'000'000);
  EXPECT_TRUE(fits);
  const Status too_large = check_deep_memory(100, "m.laya", 99'000'000, 1'000'001);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::TooLarge);
  for (const char* part : {"m.laya", "101 MB", "deep_memory_mb is 100"}) {
    EXPECT_NE(too_large.error().message.find(part), std::string::npos) << part;
  }
  EXPECT_FALSE(check_deep_memory(1, "m", ~std::size_t{0}, ~std::size_t{0}));
  const std::string table = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya";
  const auto engine =
      Engine::open({.ngram_path = table, .deep_path = table}, {.deep_memory_mb = 0});
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace laya::predict

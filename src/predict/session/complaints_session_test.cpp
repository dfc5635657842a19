// Complaints about fields, order, speed and characters: see complaints_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/allocation_counter.h"
#include "base/utf8.h"
#include "predict/session/test_engine.h"
#include "predict/session/test_shipped_engine.h"

namespace laya::predict {
namespace {

std::size_t threads_of_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

// 19, 20
TEST(Complaints, SecretFieldsGiveNotOneByteToAnySource) {
  for (const FieldKind kind :
       {FieldKind::Password, FieldKind::Pin, FieldKind::Private, FieldKind::Terminal}) {
    Session session(shipped_engine());
    session.set_text({.revision = 1, .before = "my pizza :smi", .after = "x", .kind = kind});
    for (const char key : std::string("teh hunter2")) {
      ASSERT_TRUE(session.edit({.revision = 2, .insert = {&key, 1}}));
      const Reply& reply = session.decide({.candidates = 10});
      EXPECT_TRUE(reply.candidates.empty());
      EXPECT_FALSE(reply.has_ghost);
      EXPECT_EQ(reply.silence, Silence::FieldBlocked);
    }
    EXPECT_EQ(session.bytes_read(), 0U);
    EXPECT_EQ(session.passes(), 0U);
  }
}

// 21: whoever types faster than anything is decided loses no key and no order.
TEST(Complaints, KeysThatComeInABurstAreAllThereInTheirOrder) {
  const std::string text = "thank you very much for everything";
  Session fast(shipped_engine());
  fast.set_text({.revision = 0, .before = {}});
  std::uint64_t revision = 0;
  for (const char key : text) {
    ASSERT_TRUE(fast.edit({.revision = ++revision, .insert = {&key, 1}}));
  }
  const Answer burst = copy_of(fast.decide({.candidates = 10}));
  EXPECT_EQ(fast.decide({}).revision, revision);
  Session slow(shipped_engine());
  slow.set_text({.revision = 1, .before = text});
  EXPECT_EQ(burst.texts, copy_of(slow.decide({.candidates = 10})).texts);
}

// 22
TEST(Complaints, AHundredThousandKeysCostNoMemory) {
  Session session(shipped_table_engine());
  session.warm_up();
  session.set_text({.revision = 0, .before = {}});
  const std::string line = "see you tomrrow at the pizza place :smile 我们明天去吃饭 ssssssssss\n";
  const std::size_t before = base::allocations_so_far();
  std::uint64_t revision = 0;
  for (std::size_t key = 0; key < 100000; ++key) {
    if (!session.edit({.revision = ++revision, .insert = {&line[key % line.size()], 1}})) {
      FAIL();
    }
    if (key % 10 == 0) {
      session.decide({.candidates = 5, .ghost = Want::No});
    }
  }
  EXPECT_EQ(base::allocations_so_far() - before, 0U);
}

// 23
TEST(Complaints, AnIdleSessionHasNoThreadThatCouldWakeUp) {
  shipped_engine();
  const std::size_t before = threads_of_process();
  Session session(shipped_engine());
  session.set_text({.revision = 1, .before = "see you "});
  session.decide({});
  EXPECT_EQ(threads_of_process(), before);
  EXPECT_FALSE(session.deep_pending());
}

// 24
TEST(Complaints, TheSameStateGivesTheSameOrder) {
  for (const char* text :
       {"I will see you tom", "thank you ", "我们明天", "teh", ":smi", "pizza"}) {
    SCOPED_TRACE(text);
    Session once(shipped_engine());
    once.set_text({.revision = 1, .before = text});
    const Answer first = copy_of(once.decide({.candidates = 10}));
    for (int i = 0; i < 3; ++i) {
      Session again(shipped_engine());
      again.set_text({.revision = 1, .before = text});
      EXPECT_EQ(copy_of(again.decide({.candidates = 10})).texts, first.texts);
    }
  }
}

// 30
TEST(Complaints, EmojiSequencesAreNeverCutByWhatIsOffered) {
  const std::string family = "👨‍👩‍👧";
  Session session(shipped_engine());
  session.set_text({.revision = 0, .before = "my family "});
  // Whatever a front end deletes, byte by byte even, every answer is whole.
  for (const std::string& text : {family, "see " + family + " you", family + family}) {
    for (std::size_t end = 0; end <= text.size(); ++end) {
      session.set_text({.revision = end, .before = text.substr(0, end), .after = text.substr(end)});
      const Reply& reply = session.decide({.candidates = 10});
      for (const Candidate& candidate : reply.candidates) {
        EXPECT_TRUE(base::is_valid_utf8(candidate.text));
        EXPECT_TRUE(base::is_valid_utf8(candidate.insert));
      }
      EXPECT_TRUE(!reply.has_ghost || base::is_valid_utf8(reply.ghost.text));
    }
  }
}

// Words that were offered and not taken stand behind the list, but the ghost of whoever types on
// without looking at the list still begins with the likeliest.
TEST(Complaints, AGhostBeginsWithTheLikeliestWordEvenIfItWasPassedOver) {
  Session session(shipped_engine());
  std::uint64_t revision = 0;
  std::string ghost;
  bool listed = false;
  for (const char key : std::string("Please let me know if you have any qu")) {
    ASSERT_TRUE(session.edit({.revision = ++revision, .insert = std::string_view(&key, 1)}));
    const Reply& reply = session.decide({});
    ghost = reply.has_ghost ? std::string(reply.ghost.text) : "";
    listed = std::any_of(reply.candidates.begin(), reply.candidates.end(),
                         [](const Candidate& c) { return c.text == "questions"; });
  }
  EXPECT_FALSE(listed) << "it was passed over twice";
  EXPECT_EQ(ghost, "estions");
}

}  // namespace
}  // namespace laya::predict

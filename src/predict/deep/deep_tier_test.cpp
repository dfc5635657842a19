#include "predict/deep/deep_tier.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace laya::predict {
namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max() / 4;
std::int64_t in_ms(int ms) { return base::monotonic_ns() + std::int64_t{ms} * 1'000'000; }

bool readable(int fd) {
  pollfd what{fd, POLLIN, 0};
  return ::poll(&what, 1, 0) == 1;
}

/// Counts without any lock of its own: the tier's hand-over must be enough (a race is an error
/// under TSan).
struct Count : DeepTask {
  void run(const base::CancelFlag&) override { ++value; }
  int value = 0;
};

/// Works in steps of about 1 ms, as layers, until it is cancelled or `steps` are done.
struct Layers : DeepTask {
  explicit Layers(int n) : steps(n) {}
  void run(const base::CancelFlag& cancel) override {
    started.store(true);
    for (done = 0; done < steps && !cancel.cancelled(); ++done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ended_early = done < steps;
  }
  int steps;
  int done = 0;
  bool ended_early = false;
  std::atomic<bool> started{false};
};

void until_started(const Layers& task) {
  while (!task.started.load()) {
    std::this_thread::yield();
  }
}

TEST(DeepTier, RunsTasksInOrderAndHandsTheirDataOver) {
  DeepTier tier;
  DeepLine line(tier);
  Count count;
  for (int round = 1; round <= 200; ++round) {
    ++count.value;
    ASSERT_TRUE(line.submit(count));
    ASSERT_TRUE(line.wait(kForever));
    ASSERT_EQ(count.value, 2 * round);
  }
}

TEST(DeepTier, WaitGivesUpAtTheDeadlineAndTheTaskGoesOn) {
  DeepTier tier;
  DeepLine line(tier);
  Layers slow(30);
  ASSERT_TRUE(line.submit(slow));
  EXPECT_FALSE(line.wait(in_ms(2)));
  EXPECT_TRUE(line.wait(kForever));
  EXPECT_FALSE(slow.ended_early);
}

TEST(DeepTier, WaitsForTheFirstOfSeveralTasks) {
  DeepTier tier;
  DeepLine line(tier);
  Count first;
  Layers second(1'000'000);
  ASSERT_TRUE(line.submit(first));
  ASSERT_TRUE(line.submit(second));
  EXPECT_TRUE(line.wait_finished(1, kForever));
  EXPECT_EQ(first.value, 1);
  EXPECT_FALSE(line.wait_finished(2, in_ms(2)));
  line.cancel();
  EXPECT_FALSE(line.wait_finished(1, 0));  // counted anew
}

TEST(DeepTier, CancelReturnsWithinAboutOneLayer) {
  DeepTier tier;
  DeepLine line(tier);
  Layers endless(1'000'000);
  Count never;
  ASSERT_TRUE(line.submit(endless));
  ASSERT_TRUE(line.submit(never));
  until_started(endless);
  const std::int64_t begin = base::monotonic_ns();
  line.cancel();
  EXPECT_LT(base::monotonic_ns() - begin, 200'000'000);
  EXPECT_TRUE(endless.ended_early);
  EXPECT_EQ(never.value, 0);
  Count after;  // the flag is down again
  ASSERT_TRUE(line.submit(after));
  ASSERT_TRUE(line.wait(kForever));
  EXPECT_EQ(after.value, 1);
}

TEST(DeepTier, CancellingOneLineLeavesTheOthersAlone) {
  DeepTier tier;
  DeepLine busy(tier);
  DeepLine gone(tier);
  DeepLine behind(tier);
  Layers slow(20);
  Count first;
  Count second;
  ASSERT_TRUE(busy.submit(slow));
  until_started(slow);
  ASSERT_TRUE(gone.submit(first));
  ASSERT_TRUE(behind.submit(second));
  gone.cancel();  // from the middle of the queue
  ASSERT_TRUE(behind.wait(kForever));
  EXPECT_FALSE(slow.ended_early);
  EXPECT_EQ(first.value, 0);
  EXPECT_EQ(second.value, 1);
}

TEST(DeepTier, RefusesMoreThanItsRingHolds) {
  DeepTier tier;
  DeepLine line(tier);
  Layers slow(1'000'000);
  Count count;
  ASSERT_TRUE(line.submit(slow));
  until_started(slow);
  for (std::size_t i = 0; i < DeepLine::kQueued; ++i) {
    EXPECT_TRUE(line.submit(count));
  }
  EXPECT_FALSE(line.submit(count));
  line.cancel();  // before the tasks are gone
}

TEST(DeepTier, TheDescriptorTellsThatATaskEnded) {
  DeepTier tier;
  DeepLine line(tier);
  ASSERT_GE(line.fd(), 0);
  EXPECT_FALSE(readable(line.fd()));
  Count count;
  ASSERT_TRUE(line.submit(count));
  pollfd what{line.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&what, 1, 10'000), 1);
  line.acknowledge();
  EXPECT_FALSE(readable(line.fd()));
  ASSERT_TRUE(line.submit(count));
  ASSERT_TRUE(line.wait(kForever));
  line.cancel();  // a key after the end: nothing to read any more
  EXPECT_FALSE(readable(line.fd()));
}

// Idle means: no timer, no wake-up.
TEST(DeepTier, SleepsWhenIdle) {
  DeepTier tier;
  DeepLine line(tier);
  EXPECT_EQ(tier.wake_ups(), 0u);
  Count count;
  ASSERT_TRUE(line.submit(count));
  ASSERT_TRUE(line.wait(kForever));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until it sleeps again
  const std::uint64_t before = tier.wake_ups();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_EQ(tier.wake_ups(), before);
}

TEST(DeepTier, ManySessionsAtOnceLoseNothing) {
  DeepTier tier;
  std::vector<std::thread> users;
  std::atomic<int> lost{0};
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&tier, &lost, user] {
      DeepLine line(tier);
      Count count;
      int finished = 0;
      for (int i = 0; i < 300; ++i) {
        line.submit(count);
        if ((i + user) % 3 == 0) {
          line.cancel();
          finished = count.value;
        } else if (line.wait(kForever)) {
          lost += count.value == finished + 1 ? 0 : 1;
          finished = count.value;
        }
      }
    });
  }
  for (std::thread& user : users) {
    user.join();
  }
  EXPECT_EQ(lost.load(), 0);
}

}  // namespace
}  // namespace laya::predict

#include "predict/deep/deep_tier.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
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
struct Count : DeepWork {
  void run(const base::CancelFlag&) override { ++value; }
  int value = 0;
};

/// Works in steps of about 1 ms, as layers, until it is cancelled or `steps` are done.
struct Layers : DeepWork {
  Layers(int n, std::atomic<bool>& s) : steps(n), started(&s) {}
  void run(const base::CancelFlag& cancel) override {
    started->store(true);
    for (done = 0; done < steps && !cancel.cancelled(); ++done) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ended_early = done < steps;
  }
  int steps;
  int done = 0;
  bool ended_early = false;
  std::atomic<bool>* started;  // the only thing that another thread may look at meanwhile
};

void until(const std::atomic<bool>& started) {
  while (!started.load()) {
    std::this_thread::yield();
  }
}

template <typename Work>
std::unique_ptr<Work> take(DeepLine& line) {
  return std::unique_ptr<Work>(static_cast<Work*>(line.take().release()));
}

TEST(DeepTier, HandsWorkAndItsDataOverAndBack) {
  DeepTier tier;
  DeepLine line(tier);
  auto count = std::make_unique<Count>();
  for (int round = 1; round <= 200; ++round) {
    ++count->value;
    line.submit(std::move(count));
    ASSERT_TRUE(line.wait(kForever));
    count = take<Count>(line);
    ASSERT_EQ(count->value, 2 * round);
  }
}

TEST(DeepTier, AnEmptyLineHasNothingToWaitForOrToTake) {
  DeepTier tier;
  DeepLine line(tier);
  EXPECT_TRUE(line.wait(0));
  EXPECT_EQ(line.take(), nullptr);
}

TEST(DeepTier, WaitGivesUpAtTheDeadlineAndTheWorkGoesOn) {
  DeepTier tier;
  DeepLine line(tier);
  std::atomic<bool> started{false};
  line.submit(std::make_unique<Layers>(30, started));
  EXPECT_FALSE(line.wait(in_ms(2)));
  EXPECT_TRUE(line.wait(kForever));
  EXPECT_FALSE(take<Layers>(line)->ended_early);
}

TEST(DeepTier, TakeReturnsWithinAboutOneLayer) {
  DeepTier tier;
  DeepLine line(tier);
  std::atomic<bool> started{false};
  line.submit(std::make_unique<Layers>(1'000'000, started));
  until(started);
  const std::int64_t begin = base::monotonic_ns();
  const auto endless = take<Layers>(line);
  EXPECT_LT(base::monotonic_ns() - begin, 200'000'000);
  EXPECT_TRUE(endless->ended_early);
  line.submit(std::make_unique<Count>());  // the flag is down again
  ASSERT_TRUE(line.wait(kForever));
  EXPECT_EQ(take<Count>(line)->value, 1);
}

TEST(DeepTier, TakingFromOneLineLeavesTheOthersAlone) {
  DeepTier tier;
  DeepLine busy(tier);
  DeepLine gone(tier);
  DeepLine behind(tier);
  std::atomic<bool> started{false};
  busy.submit(std::make_unique<Layers>(20, started));
  until(started);
  gone.submit(std::make_unique<Count>());
  behind.submit(std::make_unique<Count>());
  EXPECT_EQ(take<Count>(gone)->value, 0);  // from the middle of the queue
  ASSERT_TRUE(behind.wait(kForever));
  EXPECT_EQ(take<Count>(behind)->value, 1);
  ASSERT_TRUE(busy.wait(kForever));
  EXPECT_FALSE(take<Layers>(busy)->ended_early);
}

TEST(DeepTier, TheDescriptorTellsThatWorkEnded) {
  DeepTier tier;
  DeepLine line(tier);
  ASSERT_GE(line.fd(), 0);
  EXPECT_FALSE(readable(line.fd()));
  line.submit(std::make_unique<Count>());
  pollfd what{line.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&what, 1, 10'000), 1);
  line.acknowledge();
  EXPECT_FALSE(readable(line.fd()));
  line.submit(line.take());
  ASSERT_TRUE(line.wait(kForever));
  line.take();  // a key after the end: nothing to read any more
  EXPECT_FALSE(readable(line.fd()));
}

// Idle means: no timer, no wake-up.
TEST(DeepTier, SleepsWhenIdle) {
  DeepTier tier;
  DeepLine line(tier);
  EXPECT_EQ(tier.wake_ups(), 0u);
  line.submit(std::make_unique<Count>());
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
      auto count = std::make_unique<Count>();
      for (int i = 0; i < 300; ++i) {
        const int before = count->value;
        line.submit(std::move(count));
        const bool done = (i + user) % 3 != 0 && line.wait(kForever);
        count = take<Count>(line);
        lost += done && count->value != before + 1 ? 1 : 0;
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

#include "model/gru/gru_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>

#include "model/bench/random_model.h"

namespace laya::model {
namespace {

/// Moves `state` one token on, with numbers that depend on the position only.
void fake_step(State& state) {
  const std::uint64_t now = state.position();
  float number = static_cast<float>(now) * 100.0F;
  for (std::size_t l = 0; l < state.config().layers; ++l) {
    for (const auto view : {state.hidden(l), state.key(l, now), state.value(l, now)}) {
      for (float& slot : view) {
        slot = number += 0.25F;
      }
    }
  }
  for (float& slot : state.mutable_output()) {
    slot = number += 0.25F;
  }
  state.set_position(now + 1);
}

/// Equal in everything that a later step can read.
bool same(const State& a, const State& b) {
  bool equal = a.position() == b.position() && std::ranges::equal(a.output(), b.output());
  for (std::size_t l = 0; l < a.config().layers; ++l) {
    equal = equal && std::ranges::equal(a.hidden(l), b.hidden(l));
    for (std::uint64_t j = 1; j <= a.config().past_tokens() && j <= a.position(); ++j) {
      const std::uint64_t token = a.position() - j;
      equal = equal && std::ranges::equal(a.key(l, token), b.key(l, token)) &&
              std::ranges::equal(a.value(l, token), b.value(l, token));
    }
  }
  return equal;
}

TEST(State, ForksIndependently) {
  State a(tiny_gru_config());
  fake_step(a);
  State b(a);
  fake_step(b);
  EXPECT_FALSE(same(a, b));
  ASSERT_TRUE(a.copy_from(b));
  EXPECT_TRUE(same(a, b));
}

TEST(State, RefusesACopyFromAnotherShape) {
  State a(tiny_gru_config());
  const State b(default_gru_config());
  const Status status = a.copy_from(b);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::BadArgument);
}

TEST(State, SerialisesAndComesBackEqual) {
  State state(tiny_gru_config());
  for (int i = 0; i < 7; ++i) {
    fake_step(state);
  }
  const auto bytes = state.serialise();
  const auto back = State::deserialise(bytes, tiny_gru_config());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(same(state, *back));
  EXPECT_EQ(back->position(), 7U);
}

TEST(State, RefusesDamagedBytesOfEveryKind) {
  State state(tiny_gru_config());
  fake_step(state);
  const auto good = state.serialise();
  for (std::size_t size = 0; size < good.size(); size += size < 64 ? 1 : 37) {
    EXPECT_FALSE(State::deserialise(std::span(good).first(size), tiny_gru_config())) << size;
  }
  for (std::size_t at = 0; at < good.size(); at += 11) {
    auto bad = good;
    bad[at] ^= std::byte{0x10};
    EXPECT_FALSE(State::deserialise(bad, tiny_gru_config())) << at;
  }
  auto longer = good;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(State::deserialise(longer, tiny_gru_config()));

  auto newer = good;
  newer[4] = std::byte{2};
  const auto version = State::deserialise(newer, tiny_gru_config());
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().code, ErrorCode::Version);

  const auto other = State::deserialise(good, default_gru_config());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::BadArgument);
}

TEST(State, RefusesAPositionThatWouldWrap) {
  State state(tiny_gru_config());
  state.set_position(std::numeric_limits<std::uint64_t>::max());
  const auto back = State::deserialise(state.serialise(), tiny_gru_config());
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ErrorCode::Corrupt);
}

TEST(State, RefusesASavedNaN) {
  State state(tiny_gru_config());
  state.mutable_output()[3] = std::numeric_limits<float>::quiet_NaN();
  const auto back = State::deserialise(state.serialise(), tiny_gru_config());
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ErrorCode::Corrupt);
}

TEST(StateHistory, GivesBackEveryStateItHolds) {
  const GruConfig config = tiny_gru_config();
  constexpr std::size_t kCapacity = 9;
  for (std::size_t start : {std::size_t{0}, std::size_t{1}, std::size_t{6}}) {
    for (std::size_t steps = 0; steps < 25; ++steps) {
      State state(config);
      for (std::size_t i = 0; i < start; ++i) {
        fake_step(state);
      }
      StateHistory history(config, kCapacity);
      ASSERT_TRUE(history.reset(state));
      std::deque<State> all{state};
      for (std::size_t i = 0; i < steps; ++i) {
        fake_step(state);
        ASSERT_TRUE(history.push(state));
        all.push_back(state);
      }
      ASSERT_EQ(history.available(), std::min(steps, kCapacity));
      for (std::size_t back = 0; back <= history.available(); ++back) {
        StateHistory copy = history;
        State restored(config);
        ASSERT_TRUE(copy.truncate(back, restored));
        ASSERT_TRUE(same(restored, all[steps - back])) << start << " " << steps << " " << back;
        EXPECT_EQ(copy.available(), history.available() - back);
        // And on from there: typing after backspace.
        fake_step(restored);
        ASSERT_TRUE(copy.push(restored));
        EXPECT_EQ(copy.available(), std::min(history.available() - back + 1, kCapacity));
      }
    }
  }
}

TEST(StateHistory, RefusesToGoBackFurtherThanItKnows) {
  State state(tiny_gru_config());
  StateHistory history(tiny_gru_config());
  EXPECT_FALSE(history.truncate(0, state));
  ASSERT_TRUE(history.push(state));
  fake_step(state);
  ASSERT_TRUE(history.push(state));
  State other(tiny_gru_config());
  const Status status = history.truncate(2, other);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::BadArgument);
  EXPECT_TRUE(history.truncate(1, other));
  EXPECT_EQ(other.position(), 0U);
}

TEST(StateHistory, StartsAnewAfterAJump) {
  State state(tiny_gru_config());
  StateHistory history(tiny_gru_config());
  ASSERT_TRUE(history.push(state));
  fake_step(state);
  fake_step(state);
  ASSERT_TRUE(history.push(state));
  EXPECT_EQ(history.available(), 0U);
}

}  // namespace
}  // namespace laya::model

#include "eval/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "eval/simulator_slips.h"
#include "predict/session/test_engine.h"

namespace laya::eval {
namespace {

constexpr std::string_view kLine =
    "The quick brown fox doesn't jump over all the lazy dogs, it will see you tomorrow.";

std::string played(const KeySession& session) {
  PlayedField field(session);
  for (const KeyEvent& event : session.events) {
    EXPECT_TRUE(field.apply(event));
  }
  return std::string(field.text());
}

std::vector<KeySession> typed(const SimulatorOptions& options, std::string_view line,
                              std::size_t times, const predict::Engine* engine = nullptr) {
  auto simulator = Simulator::make(options, engine);
  EXPECT_TRUE(simulator);
  std::vector<KeySession> sessions;
  for (std::size_t i = 0; i < times; ++i) {
    auto session = simulator->type(line);
    EXPECT_TRUE(session) << session.error().message;
    sessions.push_back(std::move(*session));
  }
  return sessions;
}

TEST(Simulator, WhoNoticesEverythingLeavesWhatWasMeant) {
  const SimulatorOptions careful{.slip_rate = 0.2,
                                 .notice_at_once = 0.4,
                                 .notice_at_word_end = 0.3,
                                 .notice_later = 0.3,
                                 .reword_rate = 0.1};
  for (const std::string_view line :
       {kLine, std::string_view("我们tomorrow见 OK? 👨‍👩‍👧")}) {
    std::size_t slips = 0;
    for (const KeySession& session : typed(careful, line, 200)) {
      EXPECT_EQ(played(session), line);
      slips += static_cast<std::size_t>(
          std::count_if(session.events.begin(), session.events.end(),
                        [](const KeyEvent& e) { return e.slip != SlipKind::None; }));
    }
    EXPECT_GT(slips, 100U);  // else nothing was tested
  }
}

TEST(Simulator, MistakesThatNobodyNoticesStay) {
  const SimulatorOptions careless{
      .slip_rate = 0.1, .notice_at_once = 0, .notice_at_word_end = 0, .notice_later = 0};
  std::size_t wrong = 0;
  for (const KeySession& session : typed(careless, kLine, 50)) {
    wrong += played(session) != kLine ? 1 : 0;
    for (const KeyEvent& event : session.events) {
      EXPECT_TRUE(event.kind == KeyEventKind::Key || event.kind == KeyEventKind::Erase);
    }
  }
  EXPECT_GT(wrong, 45U);
}

TEST(Simulator, TheSameSeedTypesTheSame) {
  EXPECT_EQ(typed({.seed = 3}, kLine, 5), typed({.seed = 3}, kLine, 5));
  EXPECT_NE(typed({.seed = 3}, kLine, 5), typed({.seed = 4}, kLine, 5));
}

TEST(Simulator, WritesLogsThatTheReaderTakes) {
  std::string log;
  const std::vector<KeySession> sessions = typed({.slip_rate = 0.1}, kLine, 20);
  for (const KeySession& session : sessions) append_key_log(session, &log);
  const auto read = parse_key_log(log);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, sessions);
}

TEST(Simulator, TypesAsFastAsAsked) {
  double ms = 0;
  double keys = 0;
  for (const KeySession& session :
       typed({.words_per_minute = 60, .slip_rate = 0, .reword_rate = 0}, kLine, 200)) {
    ms += static_cast<double>(session.end_ms);
    keys += static_cast<double>(session.events.size());
  }
  const double words_per_minute = keys / 5 / (ms / 60000);
  EXPECT_GT(words_per_minute, 60 / 1.4);
  EXPECT_LT(words_per_minute, 60 * 1.4);
}

TEST(Simulator, SlipsAsOftenAsAsked) {
  double slips = 0;
  double characters = 0;
  for (const KeySession& session : typed({.slip_rate = 0.05, .reword_rate = 0}, kLine, 300)) {
    for (const KeyEvent& event : session.events) slips += event.slip != SlipKind::None ? 1 : 0;
    characters += static_cast<double>(kLine.size());
  }
  EXPECT_NEAR(slips / characters, 0.05, 0.015);
}

TEST(Simulator, PicksOnlyWhatWasMeant) {
  const SimulatorOptions eager{.slip_rate = 0.05,
                               .notice_at_once = 0.5,
                               .notice_at_word_end = 0.5,
                               .notice_later = 0,
                               .look_rate = 1};
  std::size_t picks = 0;
  for (const KeySession& session :
       typed(eager, "I will see you tomorrow", 20, &predict::table_engine())) {
    EXPECT_EQ(played(session), "I will see you tomorrow");
    for (const KeyEvent& event : session.events) {
      if (event.kind != KeyEventKind::Pick) continue;
      ++picks;
      if (event.from == PickFrom::List) {
        ASSERT_LT(event.rank, event.offers.size());
        std::string text = event.text;
        if (text.ends_with(' ')) text.pop_back();
        EXPECT_TRUE(event.offers[event.rank].ends_with(text));
      }
    }
  }
  EXPECT_GT(picks, 10U);
}

TEST(Simulator, RefusesOptionsOutOfRange) {
  EXPECT_EQ(Simulator::make({.slip_rate = 0.6}, nullptr).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(
      Simulator::make({.notice_at_once = 0.8, .notice_at_word_end = 0.8}, nullptr).error().code,
      ErrorCode::BadArgument);
  EXPECT_EQ(Simulator::make({.words_per_minute = 0}, nullptr).error().code, ErrorCode::BadArgument);
  auto simulator = Simulator::make({}, nullptr);
  EXPECT_EQ(simulator->type("two\nlines").error().code, ErrorCode::BadArgument);
  EXPECT_EQ(simulator->type("\xff").error().code, ErrorCode::BadArgument);
}

TEST(Slips, ComeFromTheKeysBeside) {
  EXPECT_EQ(neighbour_keys('1').find('q'), std::string::npos);
  for (const char key : std::string("rtdgcv")) {
    EXPECT_NE(neighbour_keys('f').find(key), std::string::npos) << key;
  }
  EXPECT_EQ(neighbour_keys('f').find('j'), std::string::npos);
  EXPECT_NE(neighbour_keys('F').find('G'), std::string::npos);
  EXPECT_TRUE(neighbour_keys('!').empty());
}

TEST(Slips, AlwaysChangeTheWordAndReachEveryKind) {
  model::SplitMix random(5);
  std::map<SlipKind, int> seen;
  constexpr std::string_view kText = "Don't tell all the letters";
  for (int i = 0; i < 20000; ++i) {
    const auto offset = static_cast<std::size_t>(i) % kText.size();
    if (const auto slip = draw_slip(kText, offset, random)) {
      ++seen[slip->kind];
      EXPECT_NE(slip->typed, kText.substr(offset, slip->meant_bytes));
    }
  }
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_FALSE(draw_slip("我们", 0, random));
  EXPECT_FALSE(slipped_word("我", random, nullptr));
}

}  // namespace
}  // namespace laya::eval

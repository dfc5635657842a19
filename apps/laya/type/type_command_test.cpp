// `laya type` as a user meets it: the real program on a pseudo-terminal.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <memory>

#include "laya/type/pty_program.h"

namespace laya::apps {
namespace {

const std::string kModel = std::string(LAYA_SOURCE_DIR) + "/testdata/predict/ngram.laya";

class TypeCommand : public testing::Test {
 protected:
  static constexpr int kRows = 24;
  static constexpr int kColumns = 80;

  void start(int rows = kRows, int columns = kColumns) {
    program_ = std::make_unique<PtyProgram>(
        std::vector<std::string>{"type", "--model", kModel, "--deep", "none"}, rows, columns);
    before_ = program_->settings();
    ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) { return p.shows("p50"); }));
  }

  void expect_restored() {
    EXPECT_FALSE(program_->alternate_screen());
    EXPECT_FALSE(program_->bracketed_paste());
    EXPECT_TRUE(program_->caret_visible());
    const termios now = program_->settings();
    EXPECT_EQ(now.c_lflag, before_.c_lflag);
    EXPECT_EQ(now.c_iflag, before_.c_iflag);
    EXPECT_EQ(now.c_oflag, before_.c_oflag);
    EXPECT_EQ(program_->unknown(), "");
  }

  std::unique_ptr<PtyProgram> program_;
  termios before_{};
};

TEST_F(TypeCommand, ShowsAGhostAcceptsAWordClearsOnEscapeAndLeavesTheTerminalAsItWas) {
  start();
  EXPECT_TRUE(program_->alternate_screen());
  program_->send("see you tom");
  ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) {
    return p.row(1).starts_with("see you tomorrow") && p.grey(1).starts_with("orrow");
  })) << program_->row(1);
  EXPECT_TRUE(program_->row(22).starts_with(" 1 tomorrow")) << program_->row(22);

  program_->send("\t");
  ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) {
    return p.row(1).starts_with("see you tomorrow") && !p.grey(1).starts_with("orrow");
  })) << program_->row(1);

  program_->send(" see you tom");
  ASSERT_TRUE(
      program_->wait_until([](const PtyProgram& p) { return p.grey(1).starts_with("orrow"); }));
  program_->send("\x1b");
  ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) { return p.grey(1).empty(); }));
  EXPECT_TRUE(program_->row(1).ends_with("see you tom")) << program_->row(1);

  program_->send("\x03");
  EXPECT_EQ(program_->wait_for_end(), 0);
  expect_restored();
}

TEST_F(TypeCommand, PicksFromTheListAndTypesDigits) {
  start();
  program_->send(
      "see you tom\x1b"
      "1");
  ASSERT_TRUE(program_->wait_until(
      [](const PtyProgram& p) { return p.row(1).starts_with("see you tomorrow"); }));
  program_->send(" 12");
  ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) {
    return p.row(1).starts_with("see you tomorrow 12");
  })) << program_->row(1);
  program_->send("\x04");
  EXPECT_EQ(program_->wait_for_end(), 0);
  expect_restored();
}

TEST_F(TypeCommand, SurvivesPastesNarrowTerminalsAndResizing) {
  start(5, 20);
  std::string paste = "\x1b[200~";
  while (paste.size() < 200'000) paste += "文字 and \xFF\x1b[31m words\r\n";
  program_->send(paste + "\x1b[201~");
  program_->send("end我");
  ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) { return p.shows("end我"); }));
  program_->resize(30, 100);
  ASSERT_TRUE(
      program_->wait_until([](const PtyProgram& p) { return p.shows("end我") && p.shows("p50"); }));
  program_->resize(2, 3);
  program_->send("\x03");
  EXPECT_EQ(program_->wait_for_end(), 0);
  expect_restored();
}

TEST_F(TypeCommand, RestoresTheTerminalWhenASignalEndsIt) {
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT}) {
    SCOPED_TRACE(number);
    start();
    program_->send("see you");
    ASSERT_TRUE(program_->wait_until([](const PtyProgram& p) { return p.shows("see you"); }));
    program_->signal(number);
    const int status = program_->wait_for_end();
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
    expect_restored();
  }
}

}  // namespace
}  // namespace laya::apps

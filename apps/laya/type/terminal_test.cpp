// The terminal under a shell that starts, stops and continues a program, as shells do.
#include "laya/type/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "base/clock.h"

namespace laya::apps {
namespace {

constexpr std::int64_t kPatienceNs = 20'000'000'000;

/// What the program does: says ready, says everything typed, floods at 'f', ends at 'q'.
int run_program() {
  Result<Terminal> terminal = Terminal::open();
  if (!terminal) return 9;
  terminal->write("ready");
  for (;;) {
    const Terminal::Event event = terminal->wait(-1);
    if (event == Terminal::Event::Stop) break;
    if (event == Terminal::Event::Resized) terminal->write("redrawn");
    std::string bytes;
    if (event != Terminal::Event::Bytes) continue;
    if (!terminal->read(bytes) || bytes == "q") break;
    terminal->write(bytes == "f" ? "flood" + std::string(4 << 20, '.') : "[" + bytes + "]");
  }
  const int signal_number = terminal->stop_signal();
  terminal->restore();
  if (signal_number != 0) std::raise(signal_number);
  return 0;
}

/// A shell with one job: gives it the terminal, and tells how it changed ('s' stopped, 'e' ended).
class Shell {
 public:
  Shell() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    shell_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
    if (shell_ == 0) {
      ::setenv("TERM", "xterm", 1);
      std::signal(SIGTTOU, SIG_IGN);
      const pid_t job = ::fork();
      if (job == 0) {
        ::setpgid(0, 0);
        ::tcsetpgrp(0, ::getpid());
        std::signal(SIGTTOU, SIG_DFL);
        ::_exit(run_program());
      }
      ::setpgid(job, job);
      tell(ends[1], job);
      for (int status = 0; ::waitpid(job, &status, WUNTRACED) == job;) {
        tell(ends[1], WIFSTOPPED(status) ? -1 : status);
        if (!WIFSTOPPED(status)) break;
      }
      for (;;) ::pause();  // keeps the terminal
    }
    ::close(ends[1]);
    events_ = ends[0];
    job_ = event();
  }
  Shell(const Shell&) = delete;
  ~Shell() {
    ::kill(job_, SIGKILL);
    ::kill(shell_, SIGKILL);
    ::waitpid(shell_, nullptr, 0);
    ::close(master_);
    ::close(events_);
  }

  void send(std::string_view bytes) const {
    EXPECT_EQ(::write(master_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void signal(int number) const { ::kill(job_, number); }
  /// -1: the job stopped; else its status; -2: nothing happened.
  int event() const {
    pollfd fd{events_, POLLIN, 0};
    int value = -2;
    if (::poll(&fd, 1, 20'000) == 1) {
      [[maybe_unused]] const ssize_t got = ::read(events_, &value, sizeof value);
    }
    return value;
  }
  /// Reads until `text` has come; it and all before it are forgotten.
  bool sees(std::string_view text) {
    for (const std::int64_t start = base::monotonic_ns();
         base::monotonic_ns() - start < kPatienceNs;) {
      if (const std::size_t at = seen_.find(text); at != std::string::npos) {
        seen_.erase(0, at + text.size());
        return true;
      }
      pollfd fd{master_, POLLIN, 0};
      std::array<char, 65536> buffer;
      if (::poll(&fd, 1, 50) == 1) {
        const ssize_t got = ::read(master_, buffer.data(), buffer.size());
        if (got > 0) seen_.append(buffer.data(), static_cast<std::size_t>(got));
      }
    }
    return false;
  }
  bool is_raw() const {
    termios now{};
    ::tcgetattr(master_, &now);
    return (now.c_lflag & ICANON) == 0;
  }

 private:
  static void tell(int fd, int value) {
    [[maybe_unused]] const ssize_t put = ::write(fd, &value, sizeof value);
  }
  int master_ = -1;
  int events_ = -1;
  pid_t shell_ = -1;
  pid_t job_ = -1;
  std::string seen_;
};

TEST(Terminal, IsTheShellsWhileStoppedAndOursAgainBehindIt) {
  for (const int number : {SIGTSTP, SIGSTOP}) {
    SCOPED_TRACE(number);
    Shell shell;
    ASSERT_TRUE(shell.sees("ready"));
    EXPECT_TRUE(shell.is_raw());
    shell.signal(number);
    ASSERT_EQ(shell.event(), -1);
    if (number == SIGTSTP) {  // the other one cannot be seen coming
      EXPECT_TRUE(shell.sees("\x1b[?1049l"));
      EXPECT_FALSE(shell.is_raw());
    }
    shell.signal(SIGCONT);
    EXPECT_TRUE(shell.sees("\x1b[?1049h"));
    EXPECT_TRUE(shell.sees("redrawn"));
    EXPECT_TRUE(shell.is_raw());
    shell.send("x");
    EXPECT_TRUE(shell.sees("[x]"));
    shell.send("q");
    EXPECT_EQ(shell.event(), 0);
    EXPECT_FALSE(shell.is_raw());
  }
}

TEST(Terminal, ASignalEndsItWhileTheTerminalTakesNothing) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    SCOPED_TRACE(number);
    Shell shell;
    ASSERT_TRUE(shell.sees("ready"));
    shell.send("f");
    ASSERT_TRUE(shell.sees("flood"));  // and nothing is read from here on
    ::usleep(200'000);
    shell.signal(number);
    const int status = shell.event();
    ASSERT_GE(status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_FALSE(shell.is_raw());
  }
}

}  // namespace
}  // namespace laya::apps

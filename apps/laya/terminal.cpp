#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace laya::apps {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?2004h\x1b[0m\x1b[2J\x1b[H";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?2004l\x1b[?25h\x1b[?1049l";
constexpr int kHandled[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH};
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// A crash handler can reach nothing but globals. Written once in open(), before the handler is set.
termios crash_termios;

void restore_and_crash(int signal_number) {
  // Only async-signal-safe calls.
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &crash_termios);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : kHandled) {
    sigaddset(&set, signal_number);
  }
  return set;
}

}  // namespace

Result<Terminal> Terminal::open() {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0;
  termios saved{};
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0 || dumb ||
      ::tcgetattr(STDIN_FILENO, &saved) != 0) {
    return Error{ErrorCode::Unsupported,
                 "type needs a terminal that can move its cursor; without one use: laya complete "
                 "--context TEXT, or: make demo"};
  }
  const sigset_t set = handled_signals();
  base::UniqueFd signals(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (signals.get() < 0) {
    return Error{ErrorCode::Io, std::string("type cannot watch signals: ") + std::strerror(errno)};
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  crash_termios = saved;
  for (const int signal_number : kCrashes) {
    std::signal(signal_number, restore_and_crash);
  }
  return Terminal(std::move(signals), saved);
}

Terminal::Terminal(base::UniqueFd signals, const termios& saved)
    : signals_(std::move(signals)), saved_(saved) {
  termios raw = saved_;
  ::cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  write(kEnter);
}

Terminal::Terminal(Terminal&& other) noexcept
    : signals_(std::move(other.signals_)),
      saved_(other.saved_),
      active_(std::exchange(other.active_, false)),
      stop_signal_(other.stop_signal_) {}

Terminal::~Terminal() { restore(); }

void Terminal::restore() {
  if (!std::exchange(active_, false)) {
    return;
  }
  write(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved_);
  for (const int signal_number : kCrashes) {
    std::signal(signal_number, SIG_DFL);
  }
  const sigset_t set = handled_signals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

Terminal::Event Terminal::wait(int timeout_ms) {
  pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
  const int ready = ::poll(fds, 2, timeout_ms);
  if (ready == 0) {
    return Event::Timeout;
  }
  if (ready < 0) {
    return errno == EINTR ? Event::Timeout : Event::Stop;
  }
  if ((fds[1].revents & POLLIN) != 0) {
    signalfd_siginfo info{};
    bool resized = false;
    while (::read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo == SIGWINCH) {
        resized = true;
      } else {
        stop_signal_ = static_cast<int>(info.ssi_signo);
        return Event::Stop;
      }
    }
    if (resized) {
      return Event::Resized;
    }
  }
  return (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 ? Event::Bytes : Event::Timeout;
}

bool Terminal::read(std::string& bytes) {
  char buffer[1 << 16];
  const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof(buffer));
  if (got > 0) {
    bytes.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
  return got < 0 && (errno == EINTR || errno == EAGAIN);
}

void Terminal::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (put < 0 && errno == EAGAIN) {
      pollfd out{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&out, 1, 100);
    } else if (put < 0 && errno != EINTR) {
      return;  // the terminal is gone; wait() will say so
    }
  }
}

TerminalSize Terminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {24, 80};
  }
  return {size.ws_row, size.ws_col};
}

}  // namespace laya::apps

#include "laya/type/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
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

// A signal handler can reach nothing but globals. Both are written in open(), before a handler is
// set.
termios crash_termios;
std::atomic<int> signal_pipe{-1};

// Handlers, not a signalfd: MLX and OpenBLAS start threads before main, which do not block the
// signals and would take them.
void tell(int signal_number) {
  const int saved_errno = errno;
  const auto byte = static_cast<unsigned char>(signal_number);
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe.load(), &byte, 1);
  errno = saved_errno;
}

void restore_and_crash(int signal_number) {
  // Only async-signal-safe calls.
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kLeave.data(), kLeave.size());
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &crash_termios);
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

void set_handlers(void (*handled)(int), void (*crashed)(int)) {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = handled;
  for (const int signal_number : kHandled) {
    ::sigaction(signal_number, &action, nullptr);
  }
  action.sa_handler = crashed;
  for (const int signal_number : kCrashes) {
    ::sigaction(signal_number, &action, nullptr);
  }
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
  int ends[2];
  if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) {
    return Error{ErrorCode::Io, std::string("type cannot watch signals: ") + std::strerror(errno)};
  }
  crash_termios = saved;
  signal_pipe = ends[1];
  set_handlers(tell, restore_and_crash);
  return Terminal(base::UniqueFd(ends[0]), base::UniqueFd(ends[1]), saved);
}

Terminal::Terminal(base::UniqueFd signals, base::UniqueFd signal_writer, const termios& saved)
    : signals_(std::move(signals)), signal_writer_(std::move(signal_writer)), saved_(saved) {
  termios raw = saved_;
  ::cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  write(kEnter);
}

Terminal::Terminal(Terminal&& other) noexcept
    : signals_(std::move(other.signals_)),
      signal_writer_(std::move(other.signal_writer_)),
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
  set_handlers(SIG_DFL, SIG_DFL);
}

Terminal::Event Terminal::wait(int timeout_ms, std::span<const int> others) {
  // poll() passes over a negative descriptor.
  std::array<pollfd, 2 + kMaxOthers> fds{{{STDIN_FILENO, POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
  others = others.first(std::min(others.size(), kMaxOthers));
  for (std::size_t i = 0; i < others.size(); ++i) {
    fds[2 + i] = {others[i], POLLIN, 0};
  }
  int ready = 0;
  do {
    ready = ::poll(fds.data(), static_cast<nfds_t>(2 + others.size()), timeout_ms);
  } while (ready < 0 && errno == EINTR);  // the signal is in the pipe
  if (ready == 0) {
    return Event::Timeout;
  }
  if (ready < 0) {
    return Event::Stop;
  }
  if ((fds[1].revents & POLLIN) != 0) {
    unsigned char number = 0;
    bool resized = false;
    while (::read(signals_.get(), &number, 1) == 1) {
      if (number == SIGWINCH) {
        resized = true;
      } else {
        stop_signal_ = number;
        return Event::Stop;
      }
    }
    if (resized) {
      return Event::Resized;
    }
  }
  if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
    return Event::Bytes;
  }
  const bool other =
      std::any_of(fds.begin() + 2, fds.end(), [](const pollfd& fd) { return fd.revents != 0; });
  return other ? Event::Other : Event::Timeout;
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

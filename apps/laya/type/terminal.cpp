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
constexpr int kHandled[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
constexpr int kLeaveWaitMs = 200;  // for a terminal that takes nothing
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
  ::tcsetattr(STDIN_FILENO, TCSANOW, &crash_termios);
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

/// The terminal of standard output, not blocking: a write to one that takes nothing must not keep a
/// signal from ending us. Not that flag on the descriptor itself, which the shell shares.
base::UniqueFd open_output() {
  std::array<char, 256> name;
  base::UniqueFd out;
  if (::ttyname_r(STDOUT_FILENO, name.data(), name.size()) == 0) {
    out.reset(::open(name.data(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  }
  if (!out.valid()) {
    out.reset(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  return out;
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
  return Terminal(base::UniqueFd(ends[0]), base::UniqueFd(ends[1]), open_output(), saved);
}

Terminal::Terminal(base::UniqueFd signals, base::UniqueFd signal_writer, base::UniqueFd out,
                   const termios& saved)
    : signals_(std::move(signals)),
      signal_writer_(std::move(signal_writer)),
      out_(std::move(out)),
      saved_(saved) {
  enter();
}

void Terminal::enter() {
  termios raw = saved_;
  ::cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  write(kEnter);
}

/// Never waits long: TCSANOW, not a setting that first waits until all output is gone.
void Terminal::leave() {
  std::string_view left = kLeave;
  for (int tries = 0; !left.empty() && tries < 2; ++tries) {
    pollfd out{out_.get(), POLLOUT, 0};
    ::poll(&out, 1, kLeaveWaitMs);
    const ssize_t put = ::write(out_.get(), left.data(), left.size());
    if (put > 0) {
      left.remove_prefix(static_cast<std::size_t>(put));
    } else {
      ::tcflush(out_.get(), TCOFLUSH);  // a picture that nobody took makes room
    }
  }
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_);
}

/// Stops as the signal asks, the terminal as it was meanwhile.
void Terminal::suspend() {
  leave();
  std::signal(SIGTSTP, SIG_DFL);
  std::raise(SIGTSTP);  // returns when it goes on
  set_handlers(tell, restore_and_crash);
  enter();
  redraw_ = true;
}

void Terminal::take_signals() {
  unsigned char number = 0;
  while (stop_signal_ == 0 && ::read(signals_.get(), &number, 1) == 1) {
    if (number == SIGWINCH) {
      redraw_ = true;
    } else if (number == SIGTSTP) {
      suspend();
    } else if (number == SIGCONT) {  // after SIGSTOP, which nobody can see coming
      enter();
      redraw_ = true;
    } else {
      stop_signal_ = number;
    }
  }
}

Terminal::Terminal(Terminal&& other) noexcept
    : signals_(std::move(other.signals_)),
      signal_writer_(std::move(other.signal_writer_)),
      out_(std::move(other.out_)),
      saved_(other.saved_),
      active_(std::exchange(other.active_, false)),
      redraw_(other.redraw_),
      stop_signal_(other.stop_signal_) {}

Terminal::~Terminal() { restore(); }

void Terminal::restore() {
  if (!std::exchange(active_, false)) {
    return;
  }
  leave();
  set_handlers(SIG_DFL, SIG_DFL);
}

Terminal::Event Terminal::wait(int timeout_ms, std::span<const int> others) {
  if (stop_signal_ != 0) {
    return Event::Stop;
  }
  if (std::exchange(redraw_, false)) {
    return Event::Resized;
  }
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
    take_signals();
    if (stop_signal_ != 0) {
      return Event::Stop;
    }
    if (std::exchange(redraw_, false)) {
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
  while (!bytes.empty() && stop_signal_ == 0) {
    const ssize_t put = ::write(out_.get(), bytes.data(), bytes.size());
    if (put > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(put));
    } else if (put < 0 && errno == EAGAIN) {
      std::array<pollfd, 2> fds{{{out_.get(), POLLOUT, 0}, {signals_.get(), POLLIN, 0}}};
      if (::poll(fds.data(), fds.size(), -1) > 0 && fds[1].revents != 0) {
        take_signals();
      }
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

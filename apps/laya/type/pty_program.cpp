#include "laya/type/pty_program.h"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "base/utf8.h"
#include "text/grapheme.h"

namespace laya::apps {
namespace {

constexpr std::int64_t kPatienceNs = 20'000'000'000;

}  // namespace

PtyProgram::PtyProgram(const std::vector<std::string>& arguments, int rows, int columns)
    : rows_(rows), columns_(columns), cells_(rows, std::vector<Cell>(columns)) {
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  std::vector<std::string> words = {LAYA_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  child_ = ::forkpty(&master_, nullptr, nullptr, &size);
  if (child_ == 0) {
    ::setenv("TERM", "xterm-256color", 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
}

PtyProgram::~PtyProgram() {
  if (child_ > 0 && !ended_) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (master_ >= 0) ::close(master_);
}

void PtyProgram::send(std::string_view bytes) {
  while (!bytes.empty()) {
    // The program's echo must be read meanwhile, or both sides wait for each other.
    const ssize_t put = ::write(master_, bytes.data(), std::min<std::size_t>(bytes.size(), 1024));
    if (put <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(put));
    while (read_some(0)) {
    }
  }
}

void PtyProgram::resize(int rows, int columns) {
  rows_ = rows;
  columns_ = columns;
  cells_.assign(rows, std::vector<Cell>(columns));
  winsize size{};
  size.ws_row = static_cast<unsigned short>(rows);
  size.ws_col = static_cast<unsigned short>(columns);
  ::ioctl(master_, TIOCSWINSZ, &size);  // sends SIGWINCH
}

void PtyProgram::signal(int number) { ::kill(child_, number); }

termios PtyProgram::settings() const {
  termios now{};
  ::tcgetattr(master_, &now);
  return now;
}

bool PtyProgram::read_some(int timeout_ms) {
  pollfd fd{master_, POLLIN, 0};
  if (::poll(&fd, 1, timeout_ms) <= 0) return false;
  char buffer[8192];
  const ssize_t got = ::read(master_, buffer, sizeof(buffer));
  if (got <= 0) return false;
  take({buffer, static_cast<std::size_t>(got)});
  return true;
}

bool PtyProgram::wait_until(const std::function<bool(const PtyProgram&)>& done) {
  const std::int64_t start = base::monotonic_ns();
  while (!done(*this)) {
    if (base::monotonic_ns() - start > kPatienceNs) return false;
    read_some(50);
  }
  return true;
}

int PtyProgram::wait_for_end() {
  const std::int64_t start = base::monotonic_ns();
  while (!ended_ && base::monotonic_ns() - start < kPatienceNs) {
    read_some(20);
    if (::waitpid(child_, &status_, WNOHANG) == child_) ended_ = true;
  }
  while (read_some(0)) {
  }
  return ended_ ? status_ : -1;
}

std::string PtyProgram::row(int row) const {
  std::string text;
  for (const Cell& cell : cells_[row]) text += cell.text;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string PtyProgram::grey(int row) const {
  std::string text;
  for (const Cell& cell : cells_[row]) text += cell.grey ? cell.text : "";
  return text;
}

bool PtyProgram::shows(std::string_view text) const {
  for (int i = 0; i < rows_; ++i) {
    if (row(i).find(text) != std::string::npos) return true;
  }
  return false;
}

void PtyProgram::take(std::string_view bytes) {
  pending_ += bytes;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(at);
    if (rest[0] == '\x1b') {
      const std::size_t final = rest.find_first_of("ABCDEFGHJKhlm", 2);
      if (rest.size() < 2 || final == std::string_view::npos) break;
      control(rest.substr(2, final - 2), rest[final]);
      at += final + 1;
      continue;
    }
    const base::Decoded decoded = base::decode_utf8(rest);
    if (decoded.status == base::Utf8Status::Incomplete) break;
    const std::string_view character = rest.substr(0, decoded.length);
    if (character == "\r") {
      column_ = 0;
    } else if (character == "\n") {
      row_ = std::min(row_ + 1, rows_ - 1);
    } else {
      put(character, static_cast<int>(text::display_width(character)));
    }
    at += decoded.length;
  }
  pending_.erase(0, at);
}

void PtyProgram::put(std::string_view character, int width) {
  if (width == 0 || column_ >= columns_) {
    if (column_ > 0) cells_[row_][std::min(column_, columns_) - 1].text += character;
    return;
  }
  cells_[row_][column_] = {std::string(character), grey_};
  for (int i = 1; i < width && column_ + i < columns_; ++i) cells_[row_][column_ + i] = {"", grey_};
  column_ += width;
}

void PtyProgram::control(std::string_view parameters, char final) {
  const auto is = [&](std::string_view wanted) { return parameters == wanted; };
  if (final == 'H') {
    const std::size_t semicolon = parameters.find(';');
    row_ = semicolon == std::string_view::npos ? 0 : std::atoi(std::string(parameters).c_str()) - 1;
    column_ = semicolon == std::string_view::npos
                  ? 0
                  : std::atoi(std::string(parameters.substr(semicolon + 1)).c_str()) - 1;
    row_ = std::clamp(row_, 0, rows_ - 1);
    column_ = std::clamp(column_, 0, columns_ - 1);
  } else if (final == 'J' && is("2")) {
    cells_.assign(rows_, std::vector<Cell>(columns_));
  } else if (final == 'K' && is("")) {
    for (int i = column_; i < columns_; ++i) cells_[row_][i] = {};
  } else if (final == 'm') {
    grey_ = is("0;38;5;244");
  } else if ((final == 'h' || final == 'l') && is("?1049")) {
    alternate_ = final == 'h';
  } else if ((final == 'h' || final == 'l') && is("?2004")) {
    paste_ = final == 'h';
  } else if ((final == 'h' || final == 'l') && is("?25")) {
    caret_ = final == 'h';
  } else {
    unknown_ += std::string(parameters) + final + " ";
  }
}

}  // namespace laya::apps

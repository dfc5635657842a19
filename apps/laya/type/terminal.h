// The terminal in raw mode, for as long as this object lives: alternate screen, bracketed paste, no
// echo. It is put back as it was on destruction, on SIGTERM, SIGHUP, SIGINT and SIGQUIT (reported
// by wait()), on a crash, and while the program is stopped (SIGTSTP).
#pragma once

#include <termios.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace laya::apps {

struct TerminalSize {
  std::size_t rows;
  std::size_t columns;

  bool operator==(const TerminalSize&) const = default;
};

class Terminal {
 public:
  /// Takes over standard input and output. Unsupported, with the remedy, unless both are a terminal
  /// that can move its cursor.
  static Result<Terminal> open();

  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  enum class Event {
    Bytes,    ///< something was typed: read()
    Other,    ///< one of `others` is readable
    Timeout,  ///< nothing happened
    Resized,  ///< size() has changed, or the screen was another program's: draw it all
    Stop,     ///< a signal asks to end, or the terminal is gone
  };
  static constexpr std::size_t kMaxOthers = 4;
  /// Waits at most `timeout_ms`; for ever if negative. Sleeps meanwhile: no timer runs. `others`,
  /// descriptors (-1: none; kMaxOthers at most), are waited for, too; what was typed goes before
  /// them.
  Event wait(int timeout_ms, std::span<const int> others = {});

  /// Appends what can be read without waiting. False when the terminal is gone.
  bool read(std::string& bytes);
  /// A terminal that takes nothing (its output is stopped) is waited for, until a signal asks to
  /// end: what is left is dropped then, and wait() says Stop.
  void write(std::string_view bytes);

  /// At least 1 × 1; 24 × 80 where the terminal does not say.
  TerminalSize size() const;

  /// The signal that made wait() say Stop; 0 if none.
  int stop_signal() const { return stop_signal_; }

  /// Puts the terminal back now.
  void restore();

 private:
  Terminal(base::UniqueFd signals, base::UniqueFd signal_writer, base::UniqueFd out,
           const termios& saved);

  void enter();
  void leave();
  void suspend();
  void take_signals();

  base::UniqueFd signals_;  // a pipe: signals arrive as bytes, waited for together with the keys
  base::UniqueFd signal_writer_;
  base::UniqueFd out_;  // the terminal, opened once more: what is set on it is not the shell's
  termios saved_;
  bool active_ = true;
  bool redraw_ = false;
  int stop_signal_ = 0;
};

}  // namespace laya::apps

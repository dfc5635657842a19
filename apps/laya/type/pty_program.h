// Runs the `laya` program on a pseudo-terminal, for tests: sends keys, and shows what the user
// would see. The terminal it plays understands what screen.cpp and terminal.cpp send, and complains
// about anything else.
#pragma once

#include <termios.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace laya::apps {

class PtyProgram {
 public:
  /// Starts LAYA_PROGRAM with `arguments` on a terminal of this size.
  PtyProgram(const std::vector<std::string>& arguments, int rows, int columns);
  PtyProgram(const PtyProgram&) = delete;
  PtyProgram& operator=(const PtyProgram&) = delete;
  ~PtyProgram();

  void send(std::string_view bytes);
  void resize(int rows, int columns);
  void signal(int number);

  /// Reads until `done` or 20 s have passed (sanitizers on a busy machine); false then.
  bool wait_until(const std::function<bool(const PtyProgram&)>& done);
  /// Reads to the end; the exit status as waitpid gives it, -1 if it does not end.
  int wait_for_end();

  std::string row(int row) const;           ///< without trailing blanks
  std::string grey(int row) const;          ///< its cells in the ghost's colour
  bool shows(std::string_view text) const;  ///< in any row
  bool alternate_screen() const { return alternate_; }
  bool bracketed_paste() const { return paste_; }
  bool caret_visible() const { return caret_; }
  const std::string& unknown() const { return unknown_; }  ///< sequences it did not understand
  termios settings() const;                                ///< of the terminal now

 private:
  struct Cell {
    std::string text = " ";
    bool grey = false;
  };

  bool read_some(int timeout_ms);
  void take(std::string_view bytes);
  void control(std::string_view parameters, char final);
  void put(std::string_view character, int width);

  int master_ = -1;
  int child_ = -1;
  bool ended_ = false;
  int status_ = -1;
  int rows_;
  int columns_;
  std::vector<std::vector<Cell>> cells_;
  int row_ = 0;
  int column_ = 0;
  bool grey_ = false;
  bool alternate_ = false;
  bool paste_ = false;
  bool caret_ = true;
  std::string pending_;
  std::string unknown_;
};

}  // namespace laya::apps

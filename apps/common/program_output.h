// Standard output and standard error of a program, made safe for a terminal in one place: what is
// printed may hold names, licences, paths and messages that are not ours.
#pragma once

#include <cstdio>
#include <memory>
#include <streambuf>

#include "base/result.h"

namespace laya::apps {

/// From construction to finish(), whatever std::cout, std::printf and std::cerr write passes
/// base::PrintableFilter, and a write that fails is remembered. One at a time, in main. Bytes that
/// are not text for people (a file, the screen of `laya type`) are written to the descriptor.
class ProgramOutput {
 public:
  ProgramOutput();
  ProgramOutput(const ProgramOutput&) = delete;
  ProgramOutput& operator=(const ProgramOutput&) = delete;
  ~ProgramOutput();

  /// Writes what is buffered, and puts both streams back. Io: something printed did not arrive (a
  /// full disk).
  Status finish();

 private:
  struct Sink;
  class Buffer;

  std::unique_ptr<Sink> out_;
  std::unique_ptr<Sink> error_;
  std::unique_ptr<std::streambuf> out_buffer_;
  std::unique_ptr<std::streambuf> error_buffer_;
  std::streambuf* cout_before_ = nullptr;
  std::streambuf* cerr_before_ = nullptr;
  std::FILE* stdout_before_ = nullptr;
  bool finished_ = false;
};

/// Text of ours that colours or moves the cursor, to a terminal, in its turn.
void write_terminal(std::string_view text);

}  // namespace laya::apps

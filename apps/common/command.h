// What every command shares: exit codes, one-line errors, files and JSON.
//
// A command lives in <name>_command.{h,cpp} and offers one function, add_<name>_command(app,
// outcome): it adds its CLI11 subcommand, whose callback does the work and sets outcome.exit_code.
// main.cpp lists them. No command prints typed text except as its result.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "base/result.h"

namespace laya::apps {

enum ExitCode : int {
  kOk = 0,
  kFailed = 1,  ///< the work could not be done: one line on standard error says why and what to do
  kUsage =
      2,  ///< the command line asks for something that does not exist, or cannot be done from here
};

/// What the chosen command leaves behind. One, in main; commands keep a reference.
struct Outcome {
  int exit_code = kOk;
  std::string program = "laya";  ///< in front of each error
};

/// Writes "<program>: <message>" to standard error, in one line, and sets the exit code: Usage for
/// BadArgument, else Failed.
void fail(Outcome& outcome, const Error& error);
void fail_usage(Outcome& outcome, std::string_view message);

/// JSON on one line; bytes that are not UTF-8 become U+FFFD, characters that are not seen their \u
/// escapes.
std::string to_line(const nlohmann::ordered_json& json);

/// "laya 0.1.0".
std::string version_text(const std::string& program);

/// Makes "-3" an error for each count of `app` and its commands: CLI11 would read a huge number.
void refuse_negative_counts(CLI::App& app);

/// All of `path`, decompressed where its name ends in .zst; "-" is standard input. Io names path
/// and reason; TooLarge beyond `limit_bytes` of text; Corrupt where a byte is 0.
Result<std::string> read_text(const std::string& path, std::size_t limit_bytes = 1u << 30);

}  // namespace laya::apps

#include "common/command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "text/text_file.h"

namespace laya::apps {
namespace {

std::string one_line(std::string_view message) {
  std::string line(message);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

}  // namespace

void fail(Outcome& outcome, const Error& error) {
  std::cerr << outcome.program << ": " << base::printable(one_line(error.message)) << std::endl;
  outcome.exit_code = error.code == ErrorCode::BadArgument ? kUsage : kFailed;
}

void fail_usage(Outcome& outcome, std::string_view message) {
  fail(outcome, {ErrorCode::BadArgument, std::string(message)});
}

std::string to_line(const nlohmann::ordered_json& json) {
  return base::printable_json(
      json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string version_text(const std::string& program) { return program + " " + LAYA_VERSION; }

void refuse_negative_counts(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_name() == "UINT") {
      option->check([](const std::string& value) {
        return value.starts_with('-') ? "a count is 0 or more, not " + value : std::string();
      });
    }
  }
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    refuse_negative_counts(*command);
  }
}

namespace {

Result<std::string> read_standard_input(std::size_t limit_bytes) {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0;) {
    if (got > limit_bytes - text.size()) {
      return Error{ErrorCode::TooLarge, "standard input: more than " + std::to_string(limit_bytes) +
                                            " bytes; give a part of it"};
    }
    text.append(buffer, got);
  }
  if (std::ferror(stdin) != 0) {
    return Error{ErrorCode::Io, std::string("standard input: ") + std::strerror(errno)};
  }
  return text;
}

}  // namespace

Result<std::string> read_text(const std::string& path, std::size_t limit_bytes) {
  Result<std::string> text =
      path == "-" ? read_standard_input(limit_bytes) : text::read_text_file(path, limit_bytes);
  if (text) {
    if (const std::size_t zero = text->find('\0'); zero != std::string::npos) {
      return Error{ErrorCode::Corrupt, (path == "-" ? std::string("standard input") : path) +
                                           ": byte " + std::to_string(zero) +
                                           " is 0, so this is no text; give UTF-8 text"};
    }
  }
  return text;
}

}  // namespace laya::apps

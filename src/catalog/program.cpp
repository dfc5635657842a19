#include "catalog/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/unique_fd.h"

namespace laya::catalog {
namespace {

constexpr int kTickMs = 200;
constexpr std::size_t kKeptOutput = 8192;

/// The caller's environment, with `variables` in place of those of the same name.
std::vector<std::string> environment(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& variable : variables) {
      replaced = replaced || variable.starts_with(name);
    }
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

void read_to_end(int fd, std::string& output, const std::function<void()>& tick) {
  std::array<char, 4096> buffer;
  for (;;) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kTickMs);
    if (tick) tick();
    if (ready <= 0) continue;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    output.append(buffer.data(), static_cast<std::size_t>(got));
    if (output.size() > kKeptOutput) output.erase(0, output.size() - kKeptOutput);
  }
}

}  // namespace

Result<ProgramEnd> run_program(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& variables,
                               const std::function<void()>& tick) {
  std::vector<std::string> words = arguments;
  std::vector<std::string> settings = environment(variables);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::Io, std::string("pipe: ") + std::strerror(errno)};
  }
  const base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words.front().c_str(), &actions, nullptr,
                                   pointers(words).data(), pointers(settings).data());
  posix_spawn_file_actions_destroy(&actions);
  writing.reset();
  if (error != 0) {
    return Error{error == ENOENT ? ErrorCode::Unsupported : ErrorCode::Io,
                 words.front() + ": " + std::strerror(error)};
  }
  ProgramEnd end;
  read_to_end(reading.get(), end.output, tick);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return end;
}

}  // namespace laya::catalog

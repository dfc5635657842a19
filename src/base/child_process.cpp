#include "base/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/unique_fd.h"

namespace laya::base {
namespace {

constexpr int kFirstFreeFd = 3;

Error io_error(const std::string& what, int code) {
  return {ErrorCode::Io, what + ": " + std::generic_category().message(code)};
}

bool may_run(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// A copy of `fd` (of /dev/null where it is -1) above the three standard ones, so that none of the
/// copies in the child overwrites another.
UniqueFd above_standard(int fd, int flags) {
  const UniqueFd null(fd < 0 ? ::open("/dev/null", flags | O_CLOEXEC) : -1);
  return UniqueFd(::fcntl(fd < 0 ? null.get() : fd, F_DUPFD_CLOEXEC, kFirstFreeFd));
}

struct Prepared {
  const char* program;
  const char* folder;
  char* const* arguments;
  char* const* environment;
  std::array<int, 3> standard;
  int report;  ///< errno of what failed goes there
  pid_t parent;
};

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// In the child, between fork and exec: only async-signal-safe calls, nothing written but its own
/// variables.
[[noreturn]] void become(const Prepared& prepared) {
  bool right = ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  if (::getppid() != prepared.parent) {
    ::_exit(1);  // it ended in between
  }
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) {
    ::sigaction(number, &standard, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int fd = 0; fd < kFirstFreeFd; ++fd) {
    right = right && ::dup2(prepared.standard[static_cast<std::size_t>(fd)], fd) == fd;
  }
  if (right && ::chdir(prepared.folder) == 0) {
    ::execve(prepared.program, prepared.arguments, prepared.environment);
  }
  const int code = errno;
  [[maybe_unused]] const ssize_t told = ::write(prepared.report, &code, sizeof code);
  ::_exit(127);
}

}  // namespace

Result<std::string> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    std::error_code error;
    std::string path = std::filesystem::absolute(name, error).string();
    if (!error && may_run(path)) {
      return path;
    }
  } else if (const char* variable = std::getenv("PATH"); variable != nullptr && !name.empty()) {
    std::string_view left = variable;
    while (!left.empty()) {
      const std::string_view folder = left.substr(0, left.find(':'));
      left.remove_prefix(std::min(folder.size() + 1, left.size()));
      std::string path = std::string(folder) + "/" + std::string(name);
      if (folder.starts_with('/') && may_run(path)) {
        return path;
      }
    }
  }
  return Error{ErrorCode::Unsupported, std::string(name) + ": there is no such program"};
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables,
                                          const std::vector<std::string>& dropped_prefixes) {
  std::vector<std::string> all = variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool dropped = false;
    for (const std::string& variable : variables) dropped |= variable.starts_with(name);
    for (const std::string& prefix : dropped_prefixes) dropped |= text.starts_with(prefix);
    if (!dropped) all.emplace_back(text);
  }
  return all;
}

Result<pid_t> start_child(const ChildOptions& options) {
  const Result<std::string> program = find_program(options.arguments.front());
  if (!program) return program.error();
  std::vector<std::string> words = options.arguments;
  std::vector<std::string> settings = options.environment;
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(settings);
  const UniqueFd in = above_standard(options.in, O_RDONLY);
  const UniqueFd out = above_standard(options.out, O_WRONLY);
  const UniqueFd error = above_standard(options.error, O_WRONLY);
  std::array<int, 2> ends{};
  if (!in.valid() || !out.valid() || !error.valid() || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return io_error(*program, errno);
  }
  const UniqueFd report(ends[0]);
  UniqueFd report_writer(ends[1]);
  const Prepared prepared{program->c_str(),
                          options.folder.c_str(),
                          arguments.data(),
                          environment.data(),
                          {in.get(), out.get(), error.get()},
                          report_writer.get(),
                          ::getpid()};
  const SignalsBlocked blocked;  // no handler of ours may run in the child, which shares our memory
  const pid_t child = ::vfork();  // quick, and possible with little memory, however large we are
  if (child == 0) {
    become(prepared);
  }
  if (child < 0) {
    return io_error(*program, errno);
  }
  report_writer.reset();
  int code = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.get(), &code, sizeof code);  // 0: it became the program
  } while (got < 0 && errno == EINTR);
  if (got > 0) {
    wait_for_child(child);
    return io_error(*program, code);
  }
  return child;
}

int wait_for_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace laya::base

#include "catalog/program.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace laya::catalog {
namespace {

constexpr int kTickMs = 200;
constexpr std::size_t kKeptOutput = 8192;

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

Result<ProgramEnd> run_program(base::ChildOptions child, const std::function<void()>& tick) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{ErrorCode::Io, std::string("pipe: ") + std::strerror(errno)};
  }
  const base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  child.in = -1;
  child.out = child.error = writing.get();
  const Result<pid_t> started = base::start_child(child);
  if (!started) return started.error();
  writing.reset();
  ProgramEnd end;
  read_to_end(reading.get(), end.output, tick);
  end.exit_code = base::wait_for_child(*started);
  return end;
}

}  // namespace laya::catalog

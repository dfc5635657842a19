#include "laya-train/peers/peer_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/child_process.h"
#include "format/metadata.h"

namespace laya::apps {
namespace {

constexpr std::size_t kMaxLine = 64u << 20;

Error ended(const char* what) { return {ErrorCode::Io, std::string("the other program ") + what}; }

}  // namespace

Result<PeerProcess> PeerProcess::start(const std::vector<std::string>& arguments) {
  // A socket pair, so that writing to a program that is gone is an error and no signal.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Error{ErrorCode::Io, std::string("socketpair: ") + std::strerror(errno)};
  }
  base::UniqueFd ours(ends[0]);
  const base::UniqueFd theirs(ends[1]);
  base::UniqueFd second(::fcntl(ours.get(), F_DUPFD_CLOEXEC, 0));
  base::ChildOptions options;
  options.arguments = arguments;
  options.environment = base::environment_with({}, {"PYTHON"});
  options.in = options.out = theirs.get();
  const Result<pid_t> child = base::start_child(options);
  if (!child) return child.error();
  return PeerProcess(*child, std::move(ours), std::move(second));
}

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : child_(std::exchange(other.child_, 0)),
      to_(std::move(other.to_)),
      from_(std::move(other.from_)),
      pending_(std::move(other.pending_)) {}

PeerProcess::~PeerProcess() {
  if (child_ == 0) {
    return;
  }
  to_.reset();
  from_.reset();  // the end of its input ends it
  base::wait_for_child(child_);
}

Result<nlohmann::json> PeerProcess::read() {
  std::array<char, 1 << 16> buffer;
  std::size_t end = 0;
  while ((end = pending_.find('\n')) == std::string::npos) {
    const ssize_t got = ::recv(from_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return ended("ended early");
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
    if (pending_.size() > kMaxLine) return ended("wrote too much");
  }
  Result<nlohmann::json> answer = format::parse_json(std::string_view(pending_).substr(0, end));
  pending_.erase(0, end + 1);
  if (!answer) {
    return ended("wrote something else than JSON");
  }
  return answer;
}

Result<nlohmann::json> PeerProcess::ask(const nlohmann::json& command) {
  const std::string line = command.dump() + "\n";
  for (std::string_view left = line; !left.empty();) {
    const ssize_t sent = ::send(to_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return ended("takes no more commands");
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return read();
}

}  // namespace laya::apps

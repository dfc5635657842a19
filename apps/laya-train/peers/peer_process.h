// A program that is compared with ours: started once, asked one JSON line at a time.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace laya::apps {

/// Move-only, one thread. The program ends with the object.
class PeerProcess {
 public:
  /// Starts `arguments[0]` as base::start_child() does, in "/": paths among the arguments must be
  /// absolute. Its standard error is dropped. Unsupported: there is none.
  static Result<PeerProcess> start(const std::vector<std::string>& arguments);

  PeerProcess(PeerProcess&& other) noexcept;
  PeerProcess& operator=(PeerProcess&&) = delete;
  ~PeerProcess();

  /// The next line that it writes. Io: it ended, or wrote no JSON.
  Result<nlohmann::json> read();
  /// Writes one line and reads one.
  Result<nlohmann::json> ask(const nlohmann::json& command);

 private:
  PeerProcess(pid_t child, base::UniqueFd to, base::UniqueFd from)
      : child_(child), to_(std::move(to)), from_(std::move(from)) {}
  pid_t child_;
  base::UniqueFd to_;
  base::UniqueFd from_;
  std::string pending_;
};

}  // namespace laya::apps

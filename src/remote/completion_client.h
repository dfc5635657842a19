// CompletionClient: the optional third tier — a larger model that the user runs or trusts, behind
// an OpenAI-compatible /v1/completions (Ollama on this machine, a server in the LAN). Off unless
// the user configured an address. What is sent is the text left of the caret and nothing else;
// private fields never come here: what is asked is made by predict::Session::remote_prompt().
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"

namespace laya::remote {

struct RemoteSettings {
  std::string url = {};    ///< "http://127.0.0.1:11434/v1/completions"; empty: off
  std::string model = {};  ///< as the server calls it
  std::string key = {};    ///< sent as "Authorization: Bearer …"; empty: none
  std::chrono::milliseconds time_limit{800};  ///< for all of it, connecting included; 1…60,000
  /// How long a text has to stand still before it is asked about (RemoteTier); 0…10,000. A server
  /// is not asked at each key.
  std::chrono::milliseconds pause{150};
  std::size_t tokens = 12;     ///< of a continuation, 1…64
  std::size_t candidates = 3;  ///< 1…10
};

/// BadArgument naming the setting: an address that is not http(s)://, one that names a user, plain
/// http to a host that is not in this machine or its network (127.0.0.0/8, ::1, localhost, 10/8,
/// 172.16/12, 192.168/16, 169.254/16, fc00::/7, fe80::/10, *.local, names without a dot), a limit
/// out of range.
Status check(const RemoteSettings& settings);

/// One request at a time, from one thread. Keeps its connection open between requests.
class CompletionClient {
 public:
  /// As check(); Unsupported in a build without libcurl.
  static Result<CompletionClient> create(const RemoteSettings& settings);

  CompletionClient(CompletionClient&&) noexcept;
  CompletionClient& operator=(CompletionClient&&) noexcept;
  ~CompletionClient();

  /// Continuations of `prompt`, best first (as the server orders them). Errors: Timeout, Cancelled
  /// (looked at several times a second), Io (no connection, not status 200), Corrupt, TooLarge (the
  /// answer). No message quotes what was sent or received. Never follows redirects, never uses a
  /// proxy.
  Result<std::vector<std::string>> complete(std::string_view prompt,
                                            const base::CancelFlag* cancel = nullptr);

 private:
  struct Impl;
  explicit CompletionClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace laya::remote

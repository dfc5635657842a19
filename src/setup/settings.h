// The user's settings: $XDG_CONFIG_HOME/laya/laya.toml (by default ~/.config/laya/laya.toml). There
// need not be one.
//
//   [remote]                       # a completion server of the user's own; without url: off
//   url = "http://127.0.0.1:11434/v1/completions"
//   model = "qwen2.5:0.5b"         # as the server calls it
//   key_file = "remote.key"        # a file that holds the key (beside laya.toml unless absolute),
//   key_env = "LAYA_REMOTE_KEY"    # or the environment variable that does; neither: no key
//   time_limit_ms = 800
//   pause_ms = 150                 # the text stands still so long before it is asked about
//   tokens = 12                    # of a continuation
//   candidates = 3
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "remote/completion_client.h"

namespace laya::setup {

struct Settings {
  struct Remote {
    std::string url = {};  ///< empty: no completion server is asked
    std::string model = {};
    std::string key_file = {};
    std::string key_env = {};
    std::chrono::milliseconds time_limit{800};
    std::chrono::milliseconds pause{150};
    std::size_t tokens = 12;
    std::size_t candidates = 3;

    bool is_on() const { return !url.empty(); }
  };
  Remote remote = {};
};

/// A settings file is never larger.
inline constexpr std::size_t kMaxSettingsBytes = 64 * 1024;

/// BadArgument or Corrupt naming `where`, the field or the line, what is wrong and what is known.
/// Never quotes a value: somebody may have put a key there.
Result<Settings> parse_settings(std::string_view text, std::string_view where);

/// Where the file is looked for; "" without an absolute $XDG_CONFIG_HOME or $HOME.
std::string settings_path();

/// parse_settings() of that file; the defaults where there is none. Io where it cannot be read.
Result<Settings> read_settings();

/// What a client needs, the key read from where it lies (never printed). Errors: as
/// remote::check(); BadArgument naming key_file or key_env where the key is not there, and the
/// remedy. `folder`: where a relative key_file lies.
Result<remote::RemoteSettings> remote_settings(const Settings::Remote& settings,
                                               const std::string& folder);

/// What laya.toml says about the completion server, ready to be asked.
struct RemoteSetup {
  bool is_on = false;
  remote::RemoteSettings client = {};  ///< only if is_on
  std::string name = {};               ///< for a screen: "qwen2.5:0.5b at 127.0.0.1"
  std::string key_path = {};           ///< of key_file; "" without
};
/// read_settings() and remote_settings(): every command does the same.
Result<RemoteSetup> read_remote_setup();

/// The server's name for a screen: the host of `url`, without user, port and path.
std::string host_of(std::string_view url);

}  // namespace laya::setup

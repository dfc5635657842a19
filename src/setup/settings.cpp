#include "setup/settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>

#include "base/atomic_file.h"

namespace laya::setup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxKeyBytes = 4096;

Error bad(std::string_view where, const std::string& message) {
  return Error{ErrorCode::BadArgument, std::string(where) + ": " + message};
}

// "urll = …" must not quietly mean that there is no server.
Status check_keys(const toml::table& table, std::initializer_list<std::string_view> known,
                  std::string_view where, const std::string& part) {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      std::string list;
      for (const std::string_view name : known) {
        list += (list.empty() ? "" : ", ") + std::string(name);
      }
      return bad(where, "line " + std::to_string(key.source().begin.line) + ": " + part +
                            "unknown setting; known: " + list);
    }
  }
  return {};
}

Status read_text_field(const toml::table& table, const char* key, std::string& out,
                       std::string_view where) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::string>();
  if (!value) {
    return bad(where, std::string("[remote] ") + key + " must be a text in quotes");
  }
  out = *value;
  return {};
}

Status read_number(const toml::table& table, const char* key, std::int64_t low, std::int64_t high,
                   std::int64_t& out, std::string_view where) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < low || *value > high) {
    return bad(where, std::string("[remote] ") + key + " must be a whole number from " +
                          std::to_string(low) + " to " + std::to_string(high));
  }
  out = *value;
  return {};
}

Result<Settings> read_table(const toml::table& root, std::string_view where) {
  Settings settings;
  if (Status s = check_keys(root, {"remote"}, where, ""); !s) return s.error();
  const toml::node* node = root.get("remote");
  if (node == nullptr) return settings;
  const toml::table* table = node->as_table();
  if (table == nullptr) return bad(where, "remote must be a table: [remote]");
  const auto known = {std::string_view("url"),           std::string_view("model"),
                      std::string_view("key_file"),      std::string_view("key_env"),
                      std::string_view("time_limit_ms"), std::string_view("pause_ms"),
                      std::string_view("tokens"),        std::string_view("candidates")};
  if (Status s = check_keys(*table, known, where, "[remote]: "); !s) return s.error();
  Settings::Remote& remote = settings.remote;
  std::int64_t limit = remote.time_limit.count();
  std::int64_t pause = remote.pause.count();
  auto tokens = static_cast<std::int64_t>(remote.tokens);
  auto candidates = static_cast<std::int64_t>(remote.candidates);
  for (const Status& status : {read_text_field(*table, "url", remote.url, where),
                               read_text_field(*table, "model", remote.model, where),
                               read_text_field(*table, "key_file", remote.key_file, where),
                               read_text_field(*table, "key_env", remote.key_env, where),
                               read_number(*table, "time_limit_ms", 1, 60'000, limit, where),
                               read_number(*table, "pause_ms", 0, 10'000, pause, where),
                               read_number(*table, "tokens", 1, 64, tokens, where),
                               read_number(*table, "candidates", 1, 10, candidates, where)}) {
    if (!status) return status.error();
  }
  remote.time_limit = std::chrono::milliseconds(limit);
  remote.pause = std::chrono::milliseconds(pause);
  remote.tokens = static_cast<std::size_t>(tokens);
  remote.candidates = static_cast<std::size_t>(candidates);
  if (!remote.key_file.empty() && !remote.key_env.empty()) {
    return bad(where, "[remote] names both key_file and key_env; take one of them away");
  }
  if (!remote.is_on()) return settings;
  remote::RemoteSettings client;
  client.url = remote.url;
  if (const Status fits = remote::check(client); !fits) {
    return bad(where, "[remote] " + fits.error().message.substr(sizeof("remote: ") - 1));
  }
  return settings;
}

std::string without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin));
}

std::string absolute(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, std::string_view where) {
  if (text.size() > kMaxSettingsBytes) {
    return Error{ErrorCode::TooLarge, std::string(where) + ": has more than " +
                                          std::to_string(kMaxSettingsBytes) + " bytes"};
  }
  try {
    return read_table(toml::parse(text), where);
  } catch (const toml::parse_error& error) {
    // Its description may quote what it met.
    return Error{ErrorCode::Corrupt, std::string(where) + ": line " +
                                         std::to_string(error.source().begin.line) + ", column " +
                                         std::to_string(error.source().begin.column) +
                                         ": not TOML; a setting is written  name = \"value\""};
  }
}

std::string settings_path() {
  std::string folder = absolute("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = absolute("HOME");
    if (home.empty()) return {};
    folder = home + "/.config";
  }
  return folder + "/laya/laya.toml";
}

Result<Settings> read_settings() {
  const std::string path = settings_path();
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) {
    return Settings{};
  }
  const Result<std::string> text = base::read_file(path, kMaxSettingsBytes);
  if (!text) return text.error();
  return parse_settings(*text, path);
}

Result<remote::RemoteSettings> remote_settings(const Settings::Remote& settings,
                                               const std::string& folder) {
  remote::RemoteSettings client;
  client.url = settings.url;
  client.model = settings.model;
  client.time_limit = settings.time_limit;
  client.pause = settings.pause;
  client.tokens = settings.tokens;
  client.candidates = settings.candidates;
  if (!settings.key_file.empty()) {
    const fs::path path = fs::path(folder) / settings.key_file;
    const Result<std::string> key = base::read_file(path.string(), kMaxKeyBytes);
    if (!key) return key.error();
    client.key = without_blanks(*key);
    if (client.key.empty()) {
      return Error{ErrorCode::BadArgument, path.string() + ": holds no key ([remote] key_file)"};
    }
  } else if (!settings.key_env.empty()) {
    const char* value = std::getenv(settings.key_env.c_str());
    client.key = value != nullptr ? without_blanks(value) : "";
    if (client.key.empty()) {
      return Error{ErrorCode::BadArgument,
                   "$" + settings.key_env +
                       " is not set; [remote] key_env says that it holds the "
                       "key: export it, or set key_file"};
    }
  }
  if (const Status fits = remote::check(client); !fits) return fits.error();
  return client;
}

Result<RemoteSetup> read_remote_setup() {
  const Result<Settings> settings = read_settings();
  if (!settings) return settings.error();
  RemoteSetup setup;
  setup.is_on = settings->remote.is_on();
  if (!setup.is_on) return setup;
  const fs::path folder = fs::path(settings_path()).parent_path();
  Result<remote::RemoteSettings> client = remote_settings(settings->remote, folder.string());
  if (!client) return client.error();
  setup.client = std::move(client).value();
  setup.name =
      (setup.client.model.empty() ? "" : setup.client.model + " at ") + host_of(setup.client.url);
  if (!settings->remote.key_file.empty()) {
    setup.key_path = (folder / settings->remote.key_file).string();
  }
  return setup;
}

std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, std::min(host.find_first_of("/?#"), host.size()));
  if (host.starts_with('[')) {
    return std::string(host.substr(0, std::min(host.find(']'), host.size() - 1) + 1));
  }
  return std::string(host.substr(0, std::min(host.find(':'), host.size())));
}

}  // namespace laya::setup

#include "catalog/folders.h"

#include <cstdlib>

namespace laya::catalog {
namespace {

constexpr std::size_t kMaxNameBytes = 64;

std::string absolute(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

Result<Folders> user_folders() {
  std::string data = absolute("XDG_DATA_HOME");
  std::string cache = absolute("XDG_CACHE_HOME");
  if (data.empty() || cache.empty()) {
    const std::string home = absolute("HOME");
    if (home.empty()) {
      return Error{ErrorCode::Unsupported,
                   "$HOME is not set to a folder, so there is nowhere to keep models; set it, or "
                   "$XDG_DATA_HOME and $XDG_CACHE_HOME"};
    }
    if (data.empty()) data = home + "/.local/share";
    if (cache.empty()) cache = home + "/.cache";
  }
  return Folders{data + "/laya/models", cache + "/laya/downloads"};
}

bool valid_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || !is_letter_or_digit(name.front()) ||
      name.find("..") != std::string_view::npos) {
    return false;
  }
  for (const char c : name) {
    if (!is_letter_or_digit(c) && c != '.' && c != '_' && c != '-') return false;
  }
  return true;
}

Status check_name(std::string_view name) {
  if (valid_name(name)) {
    return {};
  }
  return Error{ErrorCode::BadArgument,
               "'" + std::string(name.substr(0, kMaxNameBytes)) +
                   "' cannot name a model: 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a "
                   "letter or digit, without '..'"};
}

}  // namespace laya::catalog

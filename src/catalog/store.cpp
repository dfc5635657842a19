#include "catalog/store.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/unique_fd.h"
#include "catalog/folders.h"
#include "format/metadata.h"
#include "format/model_file.h"

namespace laya::catalog {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".laya";
constexpr std::string_view kStagingMark = ".staging-";
constexpr std::string_view kWriterMark = ".tmp-";

Error io(const std::string& path, const std::error_code& error) {
  return {ErrorCode::Io, path + ": " + error.message()};
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Installed look_into(const std::string& name, const std::string& path) {
  Installed installed{.name = name, .path = path};
  std::error_code ignored;
  installed.bytes = fs::file_size(path, ignored);
  const Result<format::ModelFile> file = format::ModelFile::open(path);
  if (!file) {
    installed.problem = file.error().message;
    return installed;
  }
  const Result<nlohmann::json> metadata = format::metadata(*file);
  if (!metadata) {
    installed.problem = metadata.error().message;
    return installed;
  }
  installed.architecture = text_of(*metadata, "architecture");
  installed.title = text_of(*metadata, "name");
  installed.licence = text_of(*metadata, "licence");
  return installed;
}

/// ".NAME.staging-PID", or ".tmp-PID-N" of a writer (AtomicFile): the process that made it, 0 for
/// other names.
pid_t staging_owner(std::string_view file_name) {
  const bool writer = file_name.starts_with(kWriterMark);
  const std::size_t mark = writer ? 0 : file_name.rfind(kStagingMark);
  if (!file_name.starts_with('.') || mark == std::string_view::npos) {
    return 0;
  }
  const std::string_view digits =
      file_name.substr(mark + (writer ? kWriterMark.size() : kStagingMark.size()));
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), owner);
  const bool ends_there = end == digits.data() + digits.size() || *end == '.' || *end == '-';
  return error == std::errc() && ends_there && owner > 0 ? owner : 0;
}

void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const pid_t owner = staging_owner(entry->path().filename().string());
    if (owner != 0 && owner != ::getpid() && ::kill(owner, 0) != 0 && errno == ESRCH) {
      std::error_code ignored;
      fs::remove(entry->path(), ignored);
    }
  }
}

Status flush(const std::string& path, int flags) {
  const base::UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) {
    return Error{ErrorCode::Io, path + ": " + std::strerror(errno)};
  }
  return {};
}

}  // namespace

std::string Store::path_of(std::string_view name) const {
  return folder_ + "/" + std::string(name) + std::string(kSuffix);
}

std::string Store::licence_folder_of(std::string_view name) const {
  return folder_ + "/" + std::string(name) + ".licence";
}

Result<std::vector<Installed>> Store::list() const {
  std::vector<Installed> all;
  std::error_code error;
  fs::directory_iterator entry(folder_, error);
  if (error == std::errc::no_such_file_or_directory) {
    return all;
  }
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    if (!file.ends_with(kSuffix)) continue;
    const std::string name = file.substr(0, file.size() - kSuffix.size());
    if (valid_name(name)) {
      all.push_back(look_into(name, path_of(name)));
    }
  }
  if (error) {
    return io(folder_, error);
  }
  std::sort(all.begin(), all.end(),
            [](const Installed& a, const Installed& b) { return a.name < b.name; });
  return all;
}

bool Store::has(std::string_view name) const {
  std::error_code ignored;
  return valid_name(name) && fs::exists(path_of(name), ignored);
}

Result<Installed> Store::find(std::string_view name) const {
  if (Status status = check_name(name); !status) return status.error();
  if (has(name)) {
    return look_into(std::string(name), path_of(name));
  }
  std::string there;
  if (const auto all = list(); all) {
    for (const Installed& installed : *all) {
      there += (there.empty() ? "" : ", ") + installed.name;
    }
  }
  return Error{ErrorCode::BadArgument, "no model '" + std::string(name) + "' is installed (" +
                                           (there.empty() ? "none is" : "there is: " + there) +
                                           "); see: laya model list"};
}

Status Store::verify(std::string_view name) const {
  const Result<Installed> installed = find(name);
  if (!installed) return installed.error();
  const auto file = format::ModelFile::open(installed->path, format::Verify::Full);
  if (!file) {
    return Error{file.error().code, file.error().message +
                                        "; install it again: laya model remove " +
                                        std::string(name) + ", then get or add it"};
  }
  return {};
}

Status Store::remove(std::string_view name) const {
  const Result<Installed> installed = find(name);
  if (!installed) return installed.error();
  std::error_code error;
  if (!fs::remove(installed->path, error) && error) {
    return io(installed->path, error);
  }
  fs::remove_all(licence_folder_of(name), error);
  return error ? Status(io(licence_folder_of(name), error)) : Status();
}

Staging::Staging(std::string path, std::string target)
    : path_(std::move(path)), target_(std::move(target)) {}

Staging::Staging(Staging&& other) noexcept
    : path_(std::exchange(other.path_, {})), target_(std::move(other.target_)) {}

Staging::~Staging() {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
}

Result<Staging> Staging::create(const Store& store, std::string_view name) {
  if (Status status = check_name(name); !status) return status.error();
  std::error_code error;
  fs::create_directories(store.folder(), error);
  if (error) {
    return io(store.folder(), error);
  }
  remove_abandoned(store.folder());
  return Staging(store.folder() + "/." + std::string(name) + std::string(kStagingMark) +
                     std::to_string(::getpid()),
                 store.path_of(name));
}

Status Staging::commit() {
  const auto file = format::ModelFile::open(path_, format::Verify::Full);
  if (!file) return file.error();
  if (Status status = flush(path_, O_RDONLY); !status) return status;
  std::error_code error;
  fs::rename(path_, target_, error);
  if (error) {
    return io(target_, error);
  }
  path_.clear();
  return flush(fs::path(target_).parent_path().string(), O_RDONLY | O_DIRECTORY);
}

}  // namespace laya::catalog

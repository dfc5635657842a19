#include "catalog/wheel.h"

#include <zip.h>

#include <vector>

namespace laya::catalog {
namespace {

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

std::string reason(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

/// libzip speaks C strings: a name with a NUL inside would be cut.
Result<zip_int64_t> index_of(zip* archive, const std::string& path, std::string_view entry) {
  const zip_int64_t index = entry.find('\0') != std::string_view::npos
                                ? -1
                                : zip_name_locate(archive, std::string(entry).c_str(), 0);
  if (index < 0) {
    return Error{ErrorCode::BadArgument, path + ": has no entry " + std::string(entry)};
  }
  return index;
}

}  // namespace

void Wheel::Close::operator()(zip* archive) const { zip_discard(archive); }

Result<Wheel> Wheel::open(const std::string& path) {
  int code = 0;
  zip* archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (archive == nullptr) {
    const bool system = code == ZIP_ER_OPEN || code == ZIP_ER_NOENT || code == ZIP_ER_READ;
    return Error{system ? ErrorCode::Io : ErrorCode::Corrupt,
                 path + ": " + (system ? "" : "not a whole wheel: ") + reason(code)};
  }
  return Wheel(path, archive);
}

Result<std::uint64_t> Wheel::size_of(std::string_view entry) const {
  const Result<zip_int64_t> index = index_of(archive_.get(), path_, entry);
  if (!index) return index.error();
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(*index), 0, &stat) != 0 ||
      (stat.valid & ZIP_STAT_SIZE) == 0) {
    return Error{ErrorCode::Corrupt, path_ + ": " + std::string(entry) + " states no size"};
  }
  return stat.size;
}

Status Wheel::read(std::string_view entry, std::uint64_t bytes, const Sink& sink) const {
  constexpr std::size_t kPiece = 1u << 20;
  const Result<std::uint64_t> size = size_of(entry);
  if (!size) return size.error();
  if (*size != bytes) {
    return Error{ErrorCode::Corrupt, path_ + ": " + std::string(entry) + " has " +
                                         std::to_string(*size) + " bytes, not " +
                                         std::to_string(bytes)};
  }
  const Result<zip_int64_t> index = index_of(archive_.get(), path_, entry);
  if (!index) return index.error();
  const std::unique_ptr<zip_file_t, CloseEntry> file(
      zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(*index), 0));
  const auto damaged = [&](const char* what) {
    return Error{ErrorCode::Corrupt, path_ + ": " + std::string(entry) + ": " + what};
  };
  if (file == nullptr) {
    return damaged(zip_strerror(archive_.get()));
  }
  std::vector<std::byte> piece(kPiece);
  std::uint64_t done = 0;
  for (;;) {
    const zip_int64_t got = zip_fread(file.get(), piece.data(), piece.size());
    if (got < 0) {
      return damaged(zip_file_strerror(file.get()));
    }
    if (got == 0) break;
    const auto count = static_cast<std::size_t>(got);
    if (count > bytes - done) {
      return damaged("unpacks to more than its directory states");
    }
    if (Status status = sink(std::span(piece).first(count)); !status) return status;
    done += count;
  }
  if (done != bytes) {
    return damaged("ends early");
  }
  return {};
}

}  // namespace laya::catalog

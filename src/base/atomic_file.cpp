#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace laya::base {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;

Error io_error(const std::string& path, const char* what, int code) {
  return {ErrorCode::Io, path + ": cannot " + what + ": " + std::generic_category().message(code)};
}

/// Writes all bytes at `offset`; 0 or errno. A short write is continued, an interrupted one
/// repeated.
int write_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) {
        continue;
      }
      return errno;
    }
    if (done == 0) {
      return ENOSPC;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

AtomicFile::AtomicFile(std::string path, std::string temporary, UniqueFd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {
  buffer_.reserve(kBufferBytes);
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  // The counter keeps two writers of one process apart; O_EXCL keeps two processes with one pid
  // (containers) apart.
  static std::atomic<unsigned> counter{0};
  int code = EEXIST;
  for (int attempt = 0; attempt < 100 && code == EEXIST; ++attempt) {
    std::string temporary =
        path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (fd.valid()) {
      return AtomicFile(path, std::move(temporary), std::move(fd));
    }
    code = errno;
  }
  return io_error(path, "create", code);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      failure_(std::move(other.failure_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    temporary_ = std::exchange(other.temporary_, {});
    fd_ = std::move(other.fd_);
    size_ = other.size_;
    buffer_ = std::move(other.buffer_);
    failure_ = std::move(other.failure_);
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  fd_.reset();
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    temporary_.clear();
  }
}

Status AtomicFile::fail(Error error) {
  failure_ = error.message;
  discard();
  return error;
}

Status AtomicFile::flush() {
  if (!failure_.empty()) {
    return Error{ErrorCode::Io, failure_};
  }
  if (!fd_.valid()) {
    return Error{ErrorCode::BadArgument, path_ + ": written to after commit"};
  }
  if (buffer_.empty()) {
    return {};
  }
  if (const int code = write_all(fd_.get(), buffer_, size_ - buffer_.size())) {
    return fail(io_error(path_, "write", code));
  }
  buffer_.clear();
  return {};
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  if (!failure_.empty() || !fd_.valid()) {
    return flush();  // gives the reason
  }
  if (bytes.size() > kBufferBytes - buffer_.size()) {
    if (Status flushed = flush(); !flushed) {
      return flushed;
    }
  }
  if (bytes.size() >= kBufferBytes) {
    if (const int code = write_all(fd_.get(), bytes, size_)) {
      return fail(io_error(path_, "write", code));
    }
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  size_ += bytes.size();
  return {};
}

Status AtomicFile::write(std::string_view text) { return write(as_bytes(text)); }

Status AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (offset > size_ || bytes.size() > size_ - offset) {
    return Error{ErrorCode::BadArgument, path_ + ": overwriting " + std::to_string(bytes.size()) +
                                             " bytes at " + std::to_string(offset) + " of " +
                                             std::to_string(size_)};
  }
  if (const int code = write_all(fd_.get(), bytes, offset)) {
    return fail(io_error(path_, "write", code));
  }
  return {};
}

Status AtomicFile::commit() {
  if (Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (::fsync(fd_.get()) != 0) {
    return fail(io_error(path_, "flush to the disk", errno));
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return fail(io_error(path_, "rename into place", errno));
  }
  temporary_.clear();
  fd_.reset();
  // The rename itself lives in the folder. Some file systems cannot sync one; the file is complete
  // either way.
  const UniqueFd folder(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.valid()) {
    ::fsync(folder.get());
  }
  return {};
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status written = file->write(bytes); !written) {
    return written;
  }
  return file->commit();
}

Status write_file(const std::string& path, std::string_view text) {
  return write_file(path, as_bytes(text));
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return io_error(path, "open", errno);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return io_error(path, "read its size", errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::Io, path + ": not a regular file"};
  }
  // Files of /proc say 0 and others may grow while they are read, so the size is a first guess and
  // the limit is kept while reading.
  std::string text;
  std::size_t filled = 0;
  while (true) {
    if (filled > limit_bytes) {
      return Error{ErrorCode::TooLarge,
                   path + ": more than the limit of " + std::to_string(limit_bytes) + " bytes"};
    }
    const std::uint64_t guess = filled == 0
                                    ? static_cast<std::uint64_t>(info.st_size) + 1
                                    : static_cast<std::uint64_t>(filled) + filled / 2 + 4096;
    text.resize(std::min<std::uint64_t>(guess, limit_bytes + (limit_bytes < UINT64_MAX ? 1 : 0)));
    while (filled < text.size()) {
      const ssize_t got = ::read(fd.get(), text.data() + filled, text.size() - filled);
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return io_error(path, "read", errno);
      }
      if (got == 0) {
        text.resize(filled);
        return text;
      }
      filled += static_cast<std::size_t>(got);
    }
  }
}

}  // namespace laya::base

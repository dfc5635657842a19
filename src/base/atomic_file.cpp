#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

namespace laya::base {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;

Error io_error(const std::string& path, const char* what, int code) {
  return {ErrorCode::Io, path + ": cannot " + what + ": " + std::generic_category().message(code)};
}

/// Writes all bytes at `offset`, where there is one; 0 or errno. A short write is continued, an
/// interrupted one repeated.
int write_all(int fd, std::span<const std::byte> bytes,
              std::optional<std::uint64_t> offset = std::nullopt) {
  while (!bytes.empty()) {
    const ssize_t done = offset
                             ? ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(*offset))
                             : ::write(fd, bytes.data(), bytes.size());
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
    if (offset) *offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

/// A name beside `path` that nobody else uses: the counter keeps two writers of one process apart,
/// O_EXCL those of two processes with one id (containers). Short, whatever `path` is called.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return folder_of(path) + "/.tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

/// Calls `make` with new names until it does not find one taken; 0 or errno.
template <typename Make>
int with_new_name(const std::string& path, std::string& name, const Make& make) {
  int code = EEXIST;
  for (int attempt = 0; attempt < 100 && code == EEXIST; ++attempt) {
    name = temporary_name(path);
    code = make(name) ? 0 : errno;
  }
  return code;
}

std::string own_link(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// Gives the new file what the old one had. Where the group cannot be kept, the new one gets no
/// more than everybody has.
void keep_owner(int fd, const OutputPath& old) {
  mode_t mode = old.mode;
  if (::fchown(fd, old.owner, old.group) != 0 &&
      ::fchown(fd, static_cast<uid_t>(-1), old.group) != 0) {
    mode &= ~static_cast<mode_t>(070) | (mode & 07) << 3;
  }
  ::fchmod(fd, mode);
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

AtomicFile::AtomicFile(OutputPath output, std::string temporary, UniqueFd fd)
    : output_(std::move(output)),
      path_(output_.path),
      temporary_(std::move(temporary)),
      fd_(std::move(fd)) {
  buffer_.reserve(kBufferBytes);
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  Result<OutputPath> output = resolve_output(path);
  if (!output) return std::move(output).error();
  if (output->kind == OutputPath::Kind::Stream) {
    UniqueFd memory(::memfd_create("laya-output", MFD_CLOEXEC));
    if (!memory.valid()) return io_error(path, "create", errno);
    return AtomicFile(std::move(*output), {}, std::move(memory));
  }
  const mode_t mode = output->is_there ? 0600 : 0644;  // until it has what the old one had
  std::string name;
  UniqueFd fd(::open(folder_of(output->path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (fd.valid() && ::access(own_link(fd.get()).c_str(), F_OK) != 0) {
    fd.reset();  // without /proc it can get no name
  }
  if (!fd.valid()) {
    const int code = with_new_name(output->path, name, [&](const std::string& temporary) {
      fd.reset(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
      return fd.valid();
    });
    if (code != 0) return io_error(path, "create", code);
  }
  if (output->is_there) keep_owner(fd.get(), *output);
  return AtomicFile(std::move(*output), std::move(name), std::move(fd));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : output_(std::move(other.output_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)),
      failure_(std::move(other.failure_)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    output_ = std::move(other.output_);
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

/// Copies what was gathered to the device or FIFO.
Status AtomicFile::pass_on() {
  const UniqueFd out(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!out.valid()) {
    return fail(io_error(path_, "open", errno));
  }
  for (std::uint64_t done = 0; done < size_;) {
    buffer_.resize(kBufferBytes);
    const ssize_t got =
        ::pread(fd_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(done));
    if (got <= 0) {
      return fail(io_error(path_, "read back", errno));
    }
    const auto bytes = std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(got));
    if (const int code = write_all(out.get(), bytes)) {
      return fail(io_error(path_, "write", code));
    }
    done += bytes.size();
  }
  buffer_.clear();
  fd_.reset();
  return {};
}

Status AtomicFile::commit() {
  if (Status flushed = flush(); !flushed) {
    return flushed;
  }
  if (output_.kind == OutputPath::Kind::Stream) {
    return pass_on();
  }
  if (::fsync(fd_.get()) != 0) {
    return fail(io_error(path_, "flush to the disk", errno));
  }
  if (temporary_.empty()) {
    std::string name;
    const int code = with_new_name(path_, name, [&](const std::string& temporary) {
      return ::linkat(AT_FDCWD, own_link(fd_.get()).c_str(), AT_FDCWD, temporary.c_str(),
                      AT_SYMLINK_FOLLOW) == 0;
    });
    if (code != 0) {
      return fail(io_error(path_, "name", code));
    }
    temporary_ = std::move(name);
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

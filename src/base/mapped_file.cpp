#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace laya::base {
namespace {

Error io_error(const std::string& path, const char* what) {
  const int code = errno;
  return {ErrorCode::Io, path + ": cannot " + what + ": " + std::generic_category().message(code)};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path, std::uint64_t limit_bytes) {
  // O_NONBLOCK so that a FIFO someone put in a file's place cannot hang us; regular files ignore
  // it.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return io_error(path, "open");
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return io_error(path, "read its size");
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::Io, path + ": not a regular file"};
  }
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > limit_bytes) {
    return Error{ErrorCode::TooLarge, path + ": " + std::to_string(size) + " bytes, the limit is " +
                                          std::to_string(limit_bytes)};
  }
  MappedFile file;
  file.path_ = path;
  if (size > 0) {  // mmap refuses a length of 0
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
    if (data == MAP_FAILED) {
      return io_error(path, "map");
    }
    file.data_ = static_cast<const std::byte*>(data);
    file.size_ = size;
  }
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    path_ = std::move(other.path_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
    data_ = nullptr;
    size_ = 0;
  }
}

void MappedFile::advise(Access access) const {
  if (data_ == nullptr) {
    return;
  }
  int advice = MADV_NORMAL;
  switch (access) {
    case Access::Normal:
      advice = MADV_NORMAL;
      break;
    case Access::Sequential:
      advice = MADV_SEQUENTIAL;
      break;
    case Access::Random:
      advice = MADV_RANDOM;
      break;
    case Access::WillNeed:
      advice = MADV_WILLNEED;
      break;
  }
  ::madvise(const_cast<std::byte*>(data_), size_, advice);  // a hint: failure changes nothing
}

}  // namespace laya::base

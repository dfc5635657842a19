// A read-only file in memory, without a copy: how models, vocabularies and n-gram tables are read.
//
// The mapping is shared and never written. A file that another process *shrinks* while it is mapped
// raises SIGBUS on the next touch of the lost pages; no check at open can prevent that. Laya
// therefore never rewrites a model in place: a new one is written beside it and renamed over it
// (AtomicFile), and the old mapping stays valid until it is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace laya::base {

/// How a mapping is going to be read; only ever a hint to the kernel.
enum class Access {
  Normal,      ///< the kernel's default read-ahead
  Sequential,  ///< front to back: more read-ahead
  Random,      ///< look-ups here and there: no read-ahead
  WillNeed,    ///< start reading it all in the background now
};

/// Move-only. Moving keeps the addresses of bytes(); the destructor ends their life. Reading from
/// several threads is fine.
class MappedFile {
 public:
  /// Maps `path` read-only. Errors: Io (cannot be opened, read or mapped, or is not a regular
  /// file), TooLarge (more than `limit_bytes`). Each names the file; an empty file is a valid,
  /// empty mapping.
  static Result<MappedFile> open(const std::string& path, std::uint64_t limit_bytes);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// The file's bytes, page-aligned, valid while this object lives (moves included).
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

  /// Tells the kernel how bytes() will be read.
  void advise(Access access) const;

 private:
  void unmap();

  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace laya::base

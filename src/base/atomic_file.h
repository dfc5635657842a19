// Writes a file so that readers see the old one or the new one, never half of one: checkpoints,
// models, tables, reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_path.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace laya::base {

/// Bytes go to a file without a name in the same folder, so that not even a kill leaves one behind
/// (where the file system has none such: to ".tmp-<pid>-<n>" there); commit() flushes it to the
/// disk and puts it in the place of `path`. Without commit(), and after any error, it is gone and
/// `path` is as it was. A symbolic link stays one: the file that it names is replaced. A file that
/// is there keeps its permissions and, where we may, its owner and group. What goes to a device or
/// a FIFO (/dev/stdout) is gathered in memory and written at commit(). One thread.
class AtomicFile {
 public:
  /// Error Io: the folder is missing or not writable, `path` is a folder, its links form a circle.
  static Result<AtomicFile> create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends (buffered, 1 MiB). Error Io ("no space left on device" for a full disk), and every
  /// later call gives it again.
  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);

  /// Overwrites bytes written before, for a header that is known only at the end. BadArgument where
  /// they are not all written yet.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Bytes appended so far.
  std::uint64_t size() const { return size_; }

  /// Flushes, fsyncs, names, fsyncs the folder; or writes it all to the device. After it the object is spent: further writes give
  /// BadArgument.
  Status commit();

 private:
  AtomicFile(OutputPath path, std::string temporary, UniqueFd fd);
  Status flush();
  Status pass_on();
  Status fail(Error error);
  void discard();

  OutputPath output_;
  std::string path_;
  std::string temporary_;  ///< its name, where it has one that must go again
  UniqueFd fd_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
  std::string failure_;  ///< the first error's message
};

/// Writes all of `bytes` to `path` atomically.
Status write_file(const std::string& path, std::span<const std::byte> bytes);
Status write_file(const std::string& path, std::string_view text);

/// Reads the whole of a regular file into a string. TooLarge beyond `limit_bytes`.
Result<std::string> read_file(const std::string& path, std::uint64_t limit_bytes);

}  // namespace laya::base

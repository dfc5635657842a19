// For tests and fuzzing only: a small model file with one of everything, and the means to damage it
// on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/wire_layout.h"

namespace laya::format {

/// Writes the sample (testdata/format/v1_small.laya is its output) to `path`.
Status write_sample_model(const std::string& path);

/// Bytes on a 64-byte boundary, exactly as many as given (so that AddressSanitizer sees one too
/// many), open to damage.
class Forgery {
 public:
  explicit Forgery(std::span<const std::byte> bytes);

  std::span<std::byte> bytes() { return {storage_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {storage_.get(), size_}; }

  /// A field of the header or of directory record `index`, to read or overwrite. Requires that it
  /// lies within the bytes.
  FileHeader header() const;
  void set_header(const FileHeader& header);
  DirectoryRecord record(std::size_t index) const;
  void set_record(std::size_t index, const DirectoryRecord& record);

  /// Makes the checksums of metadata, directory and header right again wherever they can be found,
  /// so that what was damaged is looked at instead of stopping at the first checksum. Safe for any
  /// bytes.
  void seal();

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> storage_;
  std::size_t size_ = 0;
};

}  // namespace laya::format

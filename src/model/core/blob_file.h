// A `.laya` file that holds no network: only blobs (a lexicon, other tables). Rooms above need not
// know the file format.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace laya::model {

/// Owns the mapped file. Move-only; moving keeps every view valid. Const members: any thread.
class BlobFile {
 public:
  /// Maps `path` and checks its structure. Errors as format::ModelFile::open.
  static Result<BlobFile> open(const std::string& path);

  BlobFile(BlobFile&&) noexcept;
  BlobFile& operator=(BlobFile&&) noexcept;
  ~BlobFile();

  /// The bytes of that name, on a 64-byte boundary; an empty span where there are none.
  std::span<const std::byte> blob(std::string_view name) const;

 private:
  struct Parts;
  explicit BlobFile(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace laya::model

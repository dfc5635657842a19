#include "model/core/blob_file.h"

#include <utility>

#include "format/model_file.h"

namespace laya::model {

struct BlobFile::Parts {
  format::ModelFile file;
};

BlobFile::BlobFile(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
BlobFile::BlobFile(BlobFile&&) noexcept = default;
BlobFile& BlobFile::operator=(BlobFile&&) noexcept = default;
BlobFile::~BlobFile() = default;

Result<BlobFile> BlobFile::open(const std::string& path) {
  auto file = format::ModelFile::open(path);
  if (!file) {
    return file.error();
  }
  return BlobFile(std::make_unique<Parts>(Parts{std::move(*file)}));
}

std::span<const std::byte> BlobFile::blob(std::string_view name) const {
  const format::Entry* entry = parts_->file.find(name);
  if (entry == nullptr || entry->kind != format::EntryKind::Blob) {
    return {};
  }
  return parts_->file.bytes_of(*entry);
}

}  // namespace laya::model

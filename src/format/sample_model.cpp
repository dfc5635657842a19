#include "format/sample_model.h"

#include <array>
#include <string_view>

#include "base/byte_reader.h"
#include "format/checksum.h"
#include "format/model_file.h"
#include "format/model_writer.h"

namespace laya::format {
namespace {

/// `size` bytes that are not all alike and the same everywhere.
std::vector<std::byte> pattern(std::size_t size, std::uint32_t seed) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = seed;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;  // Numerical Recipes' generator
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

std::span<const std::byte> text(std::string_view view) {
  return std::as_bytes(std::span<const char>(view.data(), view.size()));
}

constexpr std::string_view kMetadata = R"({
  "architecture": "gru-local",
  "config": {"hidden_dim": 512, "layers": 2},
  "licence": "CC0-1.0",
  "training": {"tokens": 0, "note": "样本 sample"}
})";

}  // namespace

Status write_sample_model(const std::string& path) {
  Result<ModelWriter> writer = ModelWriter::create(path);
  if (!writer) {
    return writer.error();
  }
  const std::array<float, 6> norm{1.0f, -0.5f, 0.25f, 2.0f, 0.0f, 1e-3f};
  const std::array<std::uint32_t, 1> norm_shape{6};
  if (Status done = writer->add_f32("norm.weight", norm_shape, norm); !done) {
    return done;
  }
  struct Tensor {
    const char* name;
    Layout layout;
  };
  const Tensor tensors[] = {
      {"embedding.weight", {Element::PackedInt8, 2, 32, true, {20, 40}}},
      {"w.int4", {Element::PackedInt4, 2, 64, false, {16, 65}}},
      {"w.f16", {Element::PackedF16, 2, 0, false, {5, 6}}},
      {"w.f32", {Element::PackedF32, 2, 0, false, {1, 1}}},
      {"cube", {Element::F16, 3, 0, false, {2, 3, 5}}},
      {"ids", {Element::U32, 1, 0, false, {3}}},
      {"signed", {Element::I32, 1, 0, false, {2}}},
      {"mask", {Element::U8, 4, 0, false, {1, 2, 1, 7}}},
  };
  std::uint32_t seed = 1;
  for (const Tensor& tensor : tensors) {
    const Result<std::uint64_t> size = tensor_bytes(tensor.layout);
    if (!size) {
      return size.error();
    }
    if (Status done = writer->add_tensor(tensor.name, tensor.layout, pattern(*size, seed++));
        !done) {
      return done;
    }
  }
  if (Status done = writer->add_blob("vocabulary", text("你好\nhello \n")); !done) {
    return done;
  }
  if (Status done = writer->add_blob("empty", {}); !done) {
    return done;
  }
  if (Status done = writer->set_metadata(kMetadata); !done) {
    return done;
  }
  return writer->finish();
}

Forgery::Forgery(std::span<const std::byte> bytes)
    : storage_(static_cast<std::byte*>(::operator new[](bytes.size(), std::align_val_t{64}))),
      size_(bytes.size()) {
  if (!bytes.empty()) {
    std::memcpy(storage_.get(), bytes.data(), bytes.size());
  }
}

FileHeader Forgery::header() const {
  FileHeader header;
  std::memcpy(&header, storage_.get(), sizeof(header));
  return header;
}

void Forgery::set_header(const FileHeader& header) {
  std::memcpy(storage_.get(), &header, sizeof(header));
}

DirectoryRecord Forgery::record(std::size_t index) const {
  DirectoryRecord record;
  std::memcpy(&record, storage_.get() + header().directory_offset + index * sizeof(record),
              sizeof(record));
  return record;
}

void Forgery::set_record(std::size_t index, const DirectoryRecord& record) {
  std::memcpy(storage_.get() + header().directory_offset + index * sizeof(record), &record,
              sizeof(record));
}

void Forgery::seal() {
  if (size_ < sizeof(FileHeader)) {
    return;
  }
  FileHeader head = header();
  if (base::fits(head.directory_offset, head.directory_size, size_)) {
    const std::uint64_t records = std::uint64_t{head.entry_count} * sizeof(DirectoryRecord);
    std::uint64_t name_offset = records;
    for (std::uint32_t i = 0; i < head.entry_count && records <= head.directory_size; ++i) {
      DirectoryRecord entry = record(i);
      const std::uint64_t left = head.directory_size - name_offset;
      if (entry.name_length > left) {
        break;
      }
      const std::string_view name(
          reinterpret_cast<const char*>(storage_.get() + head.directory_offset + name_offset),
          entry.name_length);
      name_offset += entry.name_length;
      if (name == kMetadataName && base::fits(entry.offset, entry.size, size_)) {
        entry.checksum = checksum(bytes().subspan(entry.offset, entry.size));
        set_record(i, entry);
      }
    }
    head.directory_checksum = checksum(bytes().subspan(head.directory_offset, head.directory_size));
    set_header(head);
  }
  head.header_checksum = checksum(bytes().first(kHeaderChecksumOffset));
  set_header(head);
}

}  // namespace laya::format

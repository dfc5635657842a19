#include "format/model_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/checksum.h"
#include "format/metadata.h"
#include "format/wire_layout.h"

namespace laya::format {
namespace {

template <typename T>
std::span<const std::byte> bytes_of_value(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

struct ModelWriter::Pending {
  std::string name;
  DirectoryRecord record;
};

ModelWriter::ModelWriter(std::string path, base::AtomicFile file)
    : path_(std::move(path)), file_(std::move(file)) {}
ModelWriter::ModelWriter(ModelWriter&&) noexcept = default;
ModelWriter& ModelWriter::operator=(ModelWriter&&) noexcept = default;
ModelWriter::~ModelWriter() = default;

Result<ModelWriter> ModelWriter::create(const std::string& path) {
  Result<base::AtomicFile> file = base::AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  ModelWriter writer(path, std::move(*file));
  // The header's place; its content is known at the end. Until then the file has no magic, so half
  // a file is no model.
  if (Status written = writer.file_.write(bytes_of_value(FileHeader{})); !written) {
    return written.error();
  }
  return writer;
}

Status ModelWriter::add_tensor(std::string_view name, const Layout& layout,
                               std::span<const std::byte> data) {
  const Result<std::uint64_t> demanded = tensor_bytes(layout);
  if (!demanded) {
    return Error{demanded.error().code,
                 path_ + ": \"" + std::string(name) + "\": " + demanded.error().message};
  }
  if (*demanded != data.size()) {
    return Error{ErrorCode::BadArgument,
                 path_ + ": \"" + std::string(name) + "\": " + std::to_string(data.size()) +
                     " bytes given, its shape demands " + std::to_string(*demanded)};
  }
  return add(name, EntryKind::Tensor, layout, data);
}

Status ModelWriter::add_f32(std::string_view name, std::span<const std::uint32_t> shape,
                            std::span<const float> data) {
  Layout layout;
  layout.element = Element::F32;
  // A rank above the limit is refused by tensor_bytes; only what has room is copied.
  layout.rank = static_cast<std::uint8_t>(std::min<std::size_t>(shape.size(), kMaxDimensions + 1));
  std::copy_n(shape.begin(), std::min<std::size_t>(shape.size(), kMaxDimensions),
              layout.shape.begin());
  return add_tensor(name, layout, std::as_bytes(data));
}

Status ModelWriter::add_blob(std::string_view name, std::span<const std::byte> data) {
  if (name == kMetadataName) {
    return Error{ErrorCode::BadArgument,
                 path_ + ": " + std::string(kMetadataName) + " is written by set_metadata"};
  }
  return add(name, EntryKind::Blob, Layout{}, data);
}

Status ModelWriter::add(std::string_view name, EntryKind kind, const Layout& layout,
                        std::span<const std::byte> data) {
  if (name.empty() || name.size() > kMaxNameBytes ||
      !std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7F; })) {
    return Error{ErrorCode::BadArgument,
                 path_ + ": a name of " + std::to_string(name.size()) + " bytes, must be 1 to " +
                     std::to_string(kMaxNameBytes) + " printable ASCII characters"};
  }
  if (pending_.size() >= kMaxEntries) {
    return Error{ErrorCode::TooLarge,
                 path_ + ": more than " + std::to_string(kMaxEntries) + " entries"};
  }
  if (file_.size() > kMaxFileBytes || data.size() > kMaxFileBytes - file_.size()) {
    return Error{ErrorCode::TooLarge,
                 path_ + ": more than " + std::to_string(kMaxFileBytes) + " bytes"};
  }
  if (!names_.emplace(name).second) {
    return Error{ErrorCode::BadArgument, path_ + ": \"" + std::string(name) + "\" is added twice"};
  }
  DirectoryRecord record{};
  record.offset = file_.size();
  record.size = data.size();
  record.checksum = checksum(data);
  record.shape = layout.shape;
  record.name_length = static_cast<std::uint16_t>(name.size());
  record.kind = static_cast<std::uint8_t>(kind);
  record.element = static_cast<std::uint8_t>(layout.element);
  record.rank = layout.rank;
  record.has_minima = layout.has_minima ? 1 : 0;
  record.group = layout.group;
  pending_.push_back({std::string(name), record});
  if (Status written = file_.write(data); !written) {
    return written;
  }
  return pad();
}

Status ModelWriter::pad() {
  constexpr std::array<std::byte, kAlignment> kZeros{};
  const std::size_t excess = static_cast<std::size_t>(file_.size() % kAlignment);
  return excess == 0 ? Status{} : file_.write(std::span(kZeros).first(kAlignment - excess));
}

Status ModelWriter::set_metadata(std::string_view json) {
  if (json.size() > kMaxMetadataBytes) {
    return Error{ErrorCode::TooLarge, path_ + ": metadata of " + std::to_string(json.size()) +
                                          " bytes, the limit is " +
                                          std::to_string(kMaxMetadataBytes)};
  }
  const Result<nlohmann::json> parsed = parse_json(json);
  if (!parsed || !parsed->is_object()) {
    return Error{ErrorCode::BadArgument,
                 path_ + ": metadata: " +
                     (parsed ? std::string("must be a JSON object") : parsed.error().message)};
  }
  metadata_ = json;
  return {};
}

Status ModelWriter::finish() {
  if (Status added = add(kMetadataName, EntryKind::Blob, Layout{}, bytes_of_text(metadata_));
      !added) {
    return added;
  }
  std::sort(pending_.begin(), pending_.end(),
            [](const Pending& a, const Pending& b) { return a.name < b.name; });
  std::vector<std::byte> directory;
  for (const Pending& entry : pending_) {
    const auto bytes = bytes_of_value(entry.record);
    directory.insert(directory.end(), bytes.begin(), bytes.end());
  }
  for (const Pending& entry : pending_) {
    const auto bytes = bytes_of_text(entry.name);
    directory.insert(directory.end(), bytes.begin(), bytes.end());
  }
  FileHeader header{};
  header.magic = kMagic;
  header.version = kFormatVersion;
  header.directory_offset = file_.size();
  header.directory_size = directory.size();
  header.directory_checksum = checksum(directory);
  header.entry_count = static_cast<std::uint32_t>(pending_.size());
  header.file_size = file_.size() + directory.size();
  if (header.file_size > kMaxFileBytes) {
    return Error{ErrorCode::TooLarge,
                 path_ + ": more than " + std::to_string(kMaxFileBytes) + " bytes"};
  }
  header.header_checksum = checksum(bytes_of_value(header).first(kHeaderChecksumOffset));
  if (Status written = file_.write(directory); !written) {
    return written;
  }
  if (Status written = file_.write_at(0, bytes_of_value(header)); !written) {
    return written;
  }
  return file_.commit();
}

}  // namespace laya::format

#include "format/model_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_reader.h"
#include "format/checksum.h"
#include "format/metadata.h"
#include "format/wire_layout.h"

namespace laya::format {
namespace {

/// Files that people are likely to hand over by mistake, by their first bytes.
struct Foreign {
  std::string_view start;
  std::string_view what;
};
constexpr Foreign kForeign[] = {
    {"GGUF", "a GGUF file"},
    {"PK\x03\x04", "a zip archive (as PyTorch checkpoints are)"},
    {"version https://git-lfs", "a Git LFS pointer: fetch the file itself"},
    {"\x1F\x8B", "a gzip file: unpack it first"},
    {"\x28\xB5\x2F\xFD", "a zstd file: unpack it first"},
    {"\x89LAYA", "a .laya file damaged by a text-mode transfer"},
};

std::string describe_foreign(std::string_view start) {
  for (const Foreign& foreign : kForeign) {
    if (start.starts_with(foreign.start)) {
      return ": it looks like " + std::string(foreign.what);
    }
  }
  return {};
}

constexpr std::uint64_t round_up(std::uint64_t value) {  // value ≤ 2^32: no wrap
  return (value + kAlignment - 1) / kAlignment * kAlignment;
}

std::string quoted(std::string_view name) { return "\"" + std::string(name) + "\""; }

/// Printable ASCII only: names go to terminals and into messages as they are.
bool is_printable(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

template <typename T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

std::string shape_text(std::span<const std::uint32_t> shape) {
  std::string text = "[";
  for (const std::uint32_t dimension : shape) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dimension);
  }
  return text + "]";
}

}  // namespace

ModelFile::ModelFile() = default;
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

Result<ModelFile> ModelFile::open(const std::string& path, Verify verify) {
  Result<base::MappedFile> mapped = base::MappedFile::open(path, kMaxFileBytes);
  if (!mapped) {
    return mapped.error();
  }
  ModelFile file;
  file.name_ = path;
  file.file_ = std::move(*mapped);
  file.bytes_ = file.file_.bytes();
  if (Status read = file.read(verify); !read) {
    return read.error();
  }
  return file;
}

Result<ModelFile> ModelFile::parse(std::span<const std::byte> bytes, Verify verify,
                                   std::string name_for_errors) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment != 0) {
    return Error{ErrorCode::BadArgument,
                 name_for_errors + ": bytes not aligned to " + std::to_string(kAlignment)};
  }
  if (bytes.size() > kMaxFileBytes) {
    return Error{ErrorCode::TooLarge, name_for_errors + ": " + std::to_string(bytes.size()) +
                                          " bytes, the limit is " + std::to_string(kMaxFileBytes)};
  }
  ModelFile file;
  file.name_ = std::move(name_for_errors);
  file.bytes_ = bytes;
  if (Status read = file.read(verify); !read) {
    return read.error();
  }
  return file;
}

Error ModelFile::corrupt(std::string what) const {
  return {ErrorCode::Corrupt, name_ + ": " + std::move(what)};
}

Status ModelFile::read(Verify verify) {
  if (bytes_.size() < sizeof(FileHeader)) {
    return corrupt(std::to_string(bytes_.size()) + " bytes, a .laya file has at least " +
                   std::to_string(sizeof(FileHeader)));
  }
  const auto header = load<FileHeader>(bytes_);
  if (header.magic != kMagic) {
    const std::string_view start(reinterpret_cast<const char*>(bytes_.data()), sizeof(FileHeader));
    return corrupt("not a .laya file" + describe_foreign(start));
  }
  // Before the checksum: another version may lay out its header otherwise.
  if (header.version != kFormatVersion) {
    return Error{ErrorCode::Version, name_ + ": format version " + std::to_string(header.version) +
                                         ", this build reads version " +
                                         std::to_string(kFormatVersion)};
  }
  if (checksum(bytes_.first(kHeaderChecksumOffset)) != header.header_checksum) {
    return corrupt("header: checksum does not match");
  }
  if (header.flags != 0 || header.reserved != 0) {
    return corrupt("header: flags " + std::to_string(header.flags) + " and reserved " +
                   std::to_string(header.reserved) + " must be 0");
  }
  if (header.file_size != bytes_.size()) {
    return corrupt("header: file_size is " + std::to_string(header.file_size) + ", the file has " +
                   std::to_string(bytes_.size()) + " bytes (incomplete download or copy?)");
  }
  if (header.entry_count > kMaxEntries) {
    return corrupt("header: entry_count " + std::to_string(header.entry_count) + ", the limit is " +
                   std::to_string(kMaxEntries));
  }
  if (header.directory_offset < sizeof(FileHeader) || header.directory_offset % kAlignment != 0 ||
      !base::fits(header.directory_offset, header.directory_size, bytes_.size()) ||
      header.directory_size != bytes_.size() - header.directory_offset) {
    return corrupt("header: directory of " + std::to_string(header.directory_size) + " bytes at " +
                   std::to_string(header.directory_offset) +
                   " must end the file and be aligned to " + std::to_string(kAlignment));
  }
  const auto directory = bytes_.subspan(static_cast<std::size_t>(header.directory_offset));
  if (checksum(directory) != header.directory_checksum) {
    return corrupt("directory: checksum does not match");
  }
  version_ = header.version;
  if (Status done =
          read_directory(header.directory_offset, header.directory_size, header.entry_count);
      !done) {
    return done;
  }
  if (Status done = check_sections(header.directory_offset); !done) {
    return done;
  }
  if (Status done = read_metadata(); !done) {
    return done;
  }
  return verify == Verify::Full ? check_contents() : Status{};
}

Status ModelFile::read_directory(std::uint64_t offset, std::uint64_t size, std::uint32_t count) {
  const std::uint64_t records_size = std::uint64_t{count} * sizeof(DirectoryRecord);
  if (records_size > size) {
    return corrupt("directory: " + std::to_string(count) + " entries do not fit into " +
                   std::to_string(size) + " bytes");
  }
  base::ByteReader records(bytes_.subspan(offset, records_size));
  base::ByteReader names(bytes_.subspan(offset + records_size, size - records_size));
  entries_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto record = load<DirectoryRecord>(records.bytes(sizeof(DirectoryRecord), "record"));
    const std::string where = "directory: entry " + std::to_string(i);
    const std::string_view name = names.text(record.name_length, "name");
    if (names.failed() || name.empty() || name.size() > kMaxNameBytes || !is_printable(name)) {
      return corrupt(where + ": name of " + std::to_string(record.name_length) +
                     " bytes must be 1 to " + std::to_string(kMaxNameBytes) +
                     " printable ASCII characters within the directory");
    }
    if (!entries_.empty() && entries_.back().name >= name) {
      return corrupt(where + ": " + quoted(name) + " is not in order after " +
                     quoted(entries_.back().name));
    }
    if (record.kind > static_cast<std::uint8_t>(EntryKind::Tensor)) {
      return corrupt(quoted(name) + ": kind " + std::to_string(record.kind) + " is unknown");
    }
    if (record.has_minima > 1 || std::any_of(record.reserved.begin(), record.reserved.end(),
                                             [](auto b) { return b != 0; })) {
      return corrupt(quoted(name) + ": has_minima must be 0 or 1 and reserved bytes 0");
    }
    Entry entry{name,
                static_cast<EntryKind>(record.kind),
                {static_cast<Element>(record.element), record.rank, record.group,
                 record.has_minima != 0, record.shape},
                record.offset,
                record.size,
                record.checksum};
    if (entry.kind == EntryKind::Tensor) {
      const Result<std::uint64_t> demanded = tensor_bytes(entry.layout);
      if (!demanded) {
        return corrupt(quoted(name) + ": " + demanded.error().message);
      }
      if (*demanded != entry.size) {
        return corrupt(quoted(name) + ": size is " + std::to_string(entry.size) + " bytes, " +
                       std::string(element_name(entry.layout.element)) + " " +
                       shape_text(entry.layout.dimensions()) + " demands " +
                       std::to_string(*demanded));
      }
    } else if (entry.layout != Layout{}) {
      return corrupt(quoted(name) + ": a blob has no element type, shape or group");
    }
    entries_.push_back(entry);
  }
  if (names.left() != 0) {
    return corrupt("directory: " + std::to_string(names.left()) + " bytes after the last name");
  }
  return {};
}

Status ModelFile::check_sections(std::uint64_t directory_offset) const {
  std::vector<const Entry*> by_offset(entries_.size());
  std::transform(entries_.begin(), entries_.end(), by_offset.begin(),
                 [](const Entry& entry) { return &entry; });
  std::sort(by_offset.begin(), by_offset.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->offset, a->size) < std::pair(b->offset, b->size);
  });
  // Sections follow one another with less than one unit of padding: nothing overlaps and nothing
  // hides between.
  std::uint64_t next = sizeof(FileHeader);
  for (const Entry* entry : by_offset) {
    if (entry->offset != next || !base::fits(entry->offset, entry->size, directory_offset)) {
      return corrupt(quoted(entry->name) + ": " + std::to_string(entry->size) +
                     " bytes at offset " + std::to_string(entry->offset) + ", expected at " +
                     std::to_string(next) + " and before " + std::to_string(directory_offset));
    }
    next = round_up(entry->offset + entry->size);
  }
  if (next != directory_offset) {
    return corrupt("header: directory at offset " + std::to_string(directory_offset) +
                   ", the sections end at " + std::to_string(next));
  }
  return {};
}

Status ModelFile::read_metadata() {
  const Entry* entry = find(kMetadataName);
  if (entry == nullptr || entry->kind != EntryKind::Blob) {
    return corrupt("no blob " + quoted(kMetadataName));
  }
  if (entry->size > kMaxMetadataBytes) {
    return corrupt(quoted(kMetadataName) + ": " + std::to_string(entry->size) +
                   " bytes, the limit is " + std::to_string(kMaxMetadataBytes));
  }
  if (!intact(*entry)) {
    return corrupt(quoted(kMetadataName) + ": checksum does not match");
  }
  const auto bytes = bytes_of(*entry);
  metadata_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const Result<nlohmann::json> parsed = parse_json(metadata_);
  if (!parsed) {
    return corrupt(quoted(kMetadataName) + ": " + parsed.error().message);
  }
  if (!parsed->is_object()) {
    return corrupt(quoted(kMetadataName) + ": must be a JSON object");
  }
  return {};
}

Status ModelFile::check_contents() const {
  for (const Entry& entry : entries_) {
    if (!intact(entry)) {
      return corrupt(quoted(entry.name) + ": checksum does not match");
    }
    const std::uint64_t end = entry.offset + entry.size;
    const auto padding = bytes_.subspan(end, round_up(end) - end);
    if (std::any_of(padding.begin(), padding.end(),
                    [](std::byte b) { return b != std::byte{0}; })) {
      return corrupt(quoted(entry.name) + ": padding after it must be 0");
    }
  }
  return {};
}

const Entry* ModelFile::find(std::string_view name) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), name,
      [](const Entry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

std::span<const std::byte> ModelFile::bytes_of(const Entry& entry) const {
  return bytes_.subspan(static_cast<std::size_t>(entry.offset),
                        static_cast<std::size_t>(entry.size));
}

bool ModelFile::intact(const Entry& entry) const {
  return checksum(bytes_of(entry)) == entry.checksum;
}

Result<TensorView> ModelFile::tensor(std::string_view name) const {
  const Entry* entry = find(name);
  if (entry == nullptr || entry->kind != EntryKind::Tensor) {
    return Error{ErrorCode::BadArgument, name_ + ": no tensor " + quoted(name)};
  }
  return TensorView{entry->name, entry->layout, bytes_of(*entry)};
}

Result<TensorView> ModelFile::tensor(std::string_view name, Element element,
                                     std::span<const std::uint32_t> shape) const {
  Result<TensorView> view = tensor(name);
  if (!view) {
    return corrupt("no tensor " + quoted(name));
  }
  const Layout& layout = view->layout;
  if (layout.element != element || !std::ranges::equal(layout.dimensions(), shape)) {
    return corrupt(quoted(name) + ": is " + std::string(element_name(layout.element)) + " " +
                   shape_text(layout.dimensions()) + ", must be " +
                   std::string(element_name(element)) + " " + shape_text(shape));
  }
  return view;
}

Result<std::span<const std::byte>> ModelFile::blob(std::string_view name) const {
  const Entry* entry = find(name);
  if (entry == nullptr || entry->kind != EntryKind::Blob) {
    return Error{ErrorCode::BadArgument, name_ + ": no blob " + quoted(name)};
  }
  return bytes_of(*entry);
}

void ModelFile::advise(base::Access access) const { file_.advise(access); }

}  // namespace laya::format

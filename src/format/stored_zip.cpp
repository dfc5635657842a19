#include "format/stored_zip.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/byte_reader.h"
#include "format/source_tensor.h"

namespace laya::format {
namespace {

constexpr std::uint32_t kLocal = 0x04034B50;
constexpr std::uint32_t kCentral = 0x02014B50;
constexpr std::uint32_t kEnd = 0x06054B50;
constexpr std::uint32_t kEnd64 = 0x06064B50;
constexpr std::uint32_t kLocator64 = 0x07064B50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kMaxCommentBytes = 65535;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // "see the zip64 field"
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kZip64Field = 1;

struct Directory {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t entries;
};

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Result<std::vector<ZipEntry>> read() {
    const std::optional<std::size_t> end = find_end();
    if (!end) {
      return corrupt("no zip archive, or one that is cut short (no end record)");
    }
    const Result<Directory> directory = read_end(*end);
    if (!directory) {
      return directory.error();
    }
    if (!base::fits(directory->offset, directory->size, *end) ||
        directory->entries > kMaxZipEntries) {
      return corrupt("a directory of " + std::to_string(directory->entries) + " entries in " +
                     std::to_string(directory->size) + " bytes at " +
                     std::to_string(directory->offset) + " does not fit");
    }
    base::ByteReader reader(bytes_.subspan(directory->offset, directory->size));
    std::vector<ZipEntry> entries;
    for (std::uint64_t i = 0; i < directory->entries; ++i) {
      Result<ZipEntry> entry = read_entry(reader);
      if (!entry) {
        return entry.error();
      }
      entries.push_back(*entry);
    }
    std::ranges::sort(entries, {}, &ZipEntry::name);
    const auto twice = std::ranges::adjacent_find(entries, {}, &ZipEntry::name);
    if (twice != entries.end()) {
      return corrupt("zip entry " + in_quotes(twice->name) + " twice");
    }
    return entries;
  }

 private:
  Error corrupt(std::string what) const {
    return {ErrorCode::Corrupt, name_ + ": " + std::move(what)};
  }
  Error unsupported(std::string what) const {
    return {ErrorCode::Unsupported, name_ + ": " + std::move(what)};
  }

  /// Where the end record begins: the last place whose comment reaches exactly to the end.
  std::optional<std::size_t> find_end() const {
    if (bytes_.size() < kEndBytes) {
      return std::nullopt;
    }
    const std::size_t most = std::min(bytes_.size() - kEndBytes, kMaxCommentBytes);
    for (std::size_t comment = 0; comment <= most; ++comment) {
      const std::size_t at = bytes_.size() - kEndBytes - comment;
      base::ByteReader reader(bytes_.subspan(at));
      if (reader.u32("signature") == kEnd) {
        reader.bytes(16, "fields");
        if (reader.u16("comment length") == comment) {
          return at;
        }
      }
    }
    return std::nullopt;
  }

  Result<Directory> read_end(std::size_t at) const {
    base::ByteReader reader(bytes_.subspan(at));
    reader.u32("signature");
    const std::uint16_t disk = reader.u16("disk");
    const std::uint16_t directory_disk = reader.u16("disk");
    reader.u16("entries on this disk");
    const std::uint16_t entries = reader.u16("entries");
    const std::uint32_t size = reader.u32("directory size");
    const std::uint32_t offset = reader.u32("directory offset");
    const bool wide = entries == 0xFFFF || size == kIn64 || offset == kIn64;
    if (!wide) {
      if (disk != 0 || directory_disk != 0) {
        return unsupported("a zip archive over several disks");
      }
      return Directory{offset, size, entries};
    }
    if (at < kLocator64Bytes) {
      return corrupt("no room for the zip64 locator");
    }
    base::ByteReader locator(bytes_.subspan(at - kLocator64Bytes, kLocator64Bytes));
    if (locator.u32("signature") != kLocator64) {
      return corrupt("no zip64 locator before the end record");
    }
    locator.u32("disk");
    base::ByteReader end64(bytes_.first(at));
    end64.seek(locator.u64("zip64 offset"), "the zip64 end record");
    if (end64.u32("the zip64 end record") != kEnd64) {
      return corrupt("no zip64 end record where the locator says");
    }
    end64.bytes(8 + 2 + 2 + 4 + 4 + 8, "the zip64 end record");
    Directory directory{};
    directory.entries = end64.u64("the zip64 end record");
    directory.size = end64.u64("the zip64 end record");
    directory.offset = end64.u64("the zip64 end record");
    if (Status fits = end64.status(name_); !fits) {
      return fits.error();
    }
    return directory;
  }

  Result<ZipEntry> read_entry(base::ByteReader& reader) const {
    const std::uint32_t signature = reader.u32("a directory record");
    reader.bytes(4, "a directory record");  // versions
    const std::uint16_t flags = reader.u16("a directory record");
    const std::uint16_t method = reader.u16("a directory record");
    reader.bytes(8, "a directory record");  // time, date, CRC
    std::uint64_t stored = reader.u32("a directory record");
    std::uint64_t size = reader.u32("a directory record");
    const std::uint16_t name_bytes = reader.u16("a directory record");
    const std::uint16_t extra_bytes = reader.u16("a directory record");
    const std::uint16_t comment_bytes = reader.u16("a directory record");
    reader.bytes(8, "a directory record");  // disk, attributes
    std::uint64_t offset = reader.u32("a directory record");
    ZipEntry entry;
    entry.name = reader.text(name_bytes, "an entry's name");
    base::ByteReader extra(reader.bytes(extra_bytes, "an entry's extra fields"));
    reader.bytes(comment_bytes, "an entry's comment");
    if (Status fits = reader.status(name_); !fits) {
      return fits.error();
    }
    const std::string label = "zip entry " + in_quotes(entry.name);
    if (signature != kCentral) {
      return corrupt("the zip directory holds something else than records");
    }
    if (method != 0 || (flags & kEncrypted) != 0) {
      return unsupported(label + " is compressed or encrypted; only stored entries are read");
    }
    while (!extra.failed() && extra.left() >= 4) {
      const std::uint16_t id = extra.u16("id");
      base::ByteReader field(extra.bytes(extra.u16("size"), "an extra field"));
      if (id == kZip64Field) {  // holds, in this order, those that did not fit
        for (std::uint64_t* value : {&size, &stored, &offset}) {
          if (*value == kIn64) {
            *value = field.u64("a zip64 field");
          }
        }
        if (field.failed()) {
          return corrupt(label + ": its zip64 field is too short");
        }
      }
    }
    if (extra.failed()) {
      return corrupt(label + ": an extra field does not fit");
    }
    if (stored != size) {
      return corrupt(label + ": stored, but of two sizes, " + std::to_string(stored) + " and " +
                     std::to_string(size));
    }
    base::ByteReader local(bytes_);
    local.seek(offset, "a local header");
    const std::uint32_t local_signature = local.u32("a local header");
    local.bytes(22, "a local header");
    const std::uint16_t local_name_bytes = local.u16("a local header");
    const std::uint16_t local_extra_bytes = local.u16("a local header");
    const std::string_view local_name = local.text(local_name_bytes, "a local header");
    local.bytes(local_extra_bytes, "a local header");
    entry.data = local.bytes(size, "an entry's bytes");
    if (Status fits = local.status(name_ + ": " + label); !fits) {
      return fits.error();
    }
    if (local_signature != kLocal || local_name != entry.name) {
      return corrupt(label + " is not where the directory says");
    }
    return entry;
  }

  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace

Result<std::vector<ZipEntry>> read_stored_zip(std::span<const std::byte> bytes,
                                              std::string_view name_for_errors) {
  return ZipReader(bytes, name_for_errors).read();
}

}  // namespace laya::format

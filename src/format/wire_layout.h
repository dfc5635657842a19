// The fixed parts of a `.laya` file, byte by byte, for the reader and the writer. FORMAT.md says
// the same in words.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace laya::format {

// 0x89 and the line endings show a file that went through a text-mode or 7-bit transfer (the idea
// is PNG's).
inline constexpr std::array<std::uint8_t, 8> kMagic{0x89, 'L', 'A', 'Y', 'A', '\r', '\n', 0x1A};
inline constexpr std::uint32_t kFormatVersion = 1;

/// Bytes 0…63 of the file, little-endian.
struct FileHeader {
  std::array<std::uint8_t, 8> magic;
  std::uint32_t version;
  std::uint32_t flags;  ///< 0
  std::uint64_t file_size;
  std::uint64_t directory_offset;
  std::uint64_t directory_size;
  std::uint64_t directory_checksum;  ///< XXH3-64 of the directory's bytes
  std::uint32_t entry_count;
  std::uint32_t reserved;         ///< 0
  std::uint64_t header_checksum;  ///< XXH3-64 of bytes 0…55
};
inline constexpr std::size_t kHeaderChecksumOffset = 56;

/// One record of the directory; the names follow after the last record, in the same order and
/// without separators.
struct DirectoryRecord {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t checksum;
  std::array<std::uint32_t, 4> shape;
  std::uint16_t name_length;
  std::uint8_t kind;
  std::uint8_t element;
  std::uint8_t rank;
  std::uint8_t has_minima;
  std::uint16_t group;
  std::array<std::uint8_t, 16> reserved;  ///< 0
};

static_assert(sizeof(FileHeader) == 64 && sizeof(DirectoryRecord) == 64);
static_assert(std::has_unique_object_representations_v<FileHeader> &&
              std::has_unique_object_representations_v<DirectoryRecord>);  // no padding
static_assert(std::endian::native == std::endian::little);

}  // namespace laya::format

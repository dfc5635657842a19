// Reads `.laya` model files: mmapped, and used exactly where they lie. FORMAT.md describes every
// byte.
//
// Called by model (weights), text (vocabulary) and the n-gram table at start, and by `laya
// inspect`. Refuses whatever FORMAT.md does not allow, with an error that names the file, the field
// and the limit. Files are untrusted input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/element.h"

namespace laya::format {

/// How much open() checks.
enum class Verify {
  Structure,  ///< header, directory and metadata with their checksums; every offset and size.
              ///< Touches few pages.
  Full,       ///< the same and the checksum of every section: reads the whole file
};

/// The entry that every file has: its metadata, a JSON object.
inline constexpr std::string_view kMetadataName = "metadata.json";

enum class EntryKind : std::uint8_t { Blob = 0, Tensor = 1 };

/// One line of the directory. `name` points into the file.
struct Entry {
  std::string_view name;
  EntryKind kind;
  Layout layout;           ///< element Bytes and rank 0 for a blob
  std::uint64_t offset;    ///< from the start of the file, a multiple of 64
  std::uint64_t size;      ///< bytes, without padding
  std::uint64_t checksum;  ///< XXH3-64 (seed 0) of those bytes
};

/// A tensor in the file. Valid as long as the ModelFile; the data are 64-byte aligned.
struct TensorView {
  std::string_view name;
  Layout layout;
  std::span<const std::byte> data;

  /// The data as `T`; the caller has checked layout.element (F32: float, F16: std::uint16_t, …).
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

/// An open model file. Move-only; moving keeps every view valid. All const members may be used from
/// several threads.
class ModelFile {
 public:
  /// Maps and checks `path`. Errors: Io, TooLarge (> 4 GiB), Version (other format version),
  /// Corrupt (all else; says where).
  static Result<ModelFile> open(const std::string& path, Verify verify = Verify::Structure);

  /// The same over bytes in memory (tests, fuzzing); they must outlive the object and start on a
  /// 64-byte boundary.
  static Result<ModelFile> parse(std::span<const std::byte> bytes, Verify verify,
                                 std::string name_for_errors);

  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;
  ~ModelFile();

  const std::string& path() const { return name_; }
  std::uint32_t version() const { return version_; }
  std::uint64_t file_bytes() const { return bytes_.size(); }

  /// The directory, sorted by name (bytewise).
  std::span<const Entry> entries() const { return entries_; }
  /// Null when there is none of that name.
  const Entry* find(std::string_view name) const;

  /// Error BadArgument: no such tensor (or a blob of that name); the message names file and tensor.
  Result<TensorView> tensor(std::string_view name) const;
  /// The same, and Corrupt unless it has exactly this element type and shape: what a backend calls.
  Result<TensorView> tensor(std::string_view name, Element element,
                            std::span<const std::uint32_t> shape) const;
  /// Error BadArgument: no such blob.
  Result<std::span<const std::byte>> blob(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The bytes of an entry of this file.
  std::span<const std::byte> bytes_of(const Entry& entry) const;
  /// Whether the entry's bytes have the checksum that the directory states. Reads them all.
  bool intact(const Entry& entry) const;

  /// The metadata: a JSON object (configuration, licence, training record), checked to be UTF-8
  /// JSON at most 32 levels deep. Text, so that readers of this header need no JSON library;
  /// metadata.h gives the parsed form.
  std::string_view metadata_json() const { return metadata_; }

  /// Tells the kernel how the file will be read; nothing when it was given as bytes.
  void advise(base::Access access) const;

 private:
  ModelFile();
  Status read(Verify verify);
  Status read_directory(std::uint64_t offset, std::uint64_t size, std::uint32_t count);
  Status check_sections(std::uint64_t directory_offset) const;
  Status check_contents() const;
  Status read_metadata();
  Error corrupt(std::string what) const;

  std::string name_;
  base::MappedFile file_;  ///< empty when parse() was given foreign bytes
  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0;
  std::vector<Entry> entries_;
  std::string_view metadata_;
};

}  // namespace laya::format

// Reads GGUF files (versions 2 and 3, little-endian): llama.cpp's format. mmapped, nothing copied
// but the directory. Source: the GGUF specification (ggml/docs/gguf.md).
//
// Called by Checkpoint, `laya convert` and the catalogue. Files are untrusted: what does not fit is
// refused with the name of the file, the field, the value and the limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

/// Limits; each is far beyond any real file.
inline constexpr std::uint32_t kMaxGgufDimensions = 4;  ///< of the format
inline constexpr std::uint32_t kMaxGgufKeys = 65536;
inline constexpr std::uint32_t kMaxGgufKeyBytes = 65535;
inline constexpr std::uint32_t kMaxGgufArrayDepth = 4;

/// Types of metadata values, numbered as in the file.
enum class GgufValueType : std::uint32_t {
  U8 = 0,
  I8 = 1,
  U16 = 2,
  I16 = 3,
  U32 = 4,
  I32 = 5,
  F32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  U64 = 10,
  I64 = 11,
  F64 = 12,
};
std::string_view gguf_value_type_name(GgufValueType type);

/// One key of the metadata. Views into the file.
struct GgufValue {
  std::string_view key;
  GgufValueType type = GgufValueType::U8;
  GgufValueType element = GgufValueType::U8;  ///< arrays only: what they hold
  std::uint64_t count = 1;                    ///< elements of an array, 1 otherwise
  std::span<const std::byte> bytes;  ///< scalars and strings: their bytes; arrays: all elements, as
                                     ///< stored (walked at open: they fit)
};

/// An open GGUF file. Move-only; moving keeps every view valid. Const members are thread-safe.
class GgufFile {
 public:
  /// Maps and checks `path`: every key, every tensor's type, place and size. Reads no weights.
  /// Errors: Io, TooLarge, Version (version 1, big-endian), Unsupported (a tensor's type, named),
  /// Corrupt (all else).
  static Result<GgufFile> open(const std::string& path);
  /// The same over bytes in memory, which must outlive the object.
  static Result<GgufFile> parse(std::span<const std::byte> bytes, std::string name_for_errors);

  GgufFile(GgufFile&&) noexcept;
  GgufFile& operator=(GgufFile&&) noexcept;
  ~GgufFile();

  const std::string& path() const;
  std::uint32_t version() const;
  std::uint32_t alignment() const;

  /// In the order of the file. Shapes are outermost first: GGUF's own order, reversed.
  std::span<const SourceTensor> tensors() const;
  /// Null when there is none of that name.
  const SourceTensor* find_tensor(std::string_view name) const;

  /// All keys, in the order of the file.
  std::span<const GgufValue> metadata() const;
  const GgufValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // One value. Errors Corrupt: no such key, another type, outside [low, high]; file and key named.
  // Integers of every width are accepted where they are not negative; numbers may also be integers.
  Result<std::uint64_t> integer(std::string_view key, std::uint64_t low, std::uint64_t high) const;
  Result<double> number(std::string_view key) const;  ///< finite
  Result<bool> boolean(std::string_view key) const;
  Result<std::string_view> text(std::string_view key) const;

  // Arrays. The vectors are as large as what lies in the file, never as what it claims.
  Result<std::vector<std::string_view>> texts(std::string_view key) const;
  Result<std::vector<std::int64_t>> integers(std::string_view key) const;  ///< U64 ≤ 2^63 − 1; Bool
  Result<std::vector<float>> numbers(std::string_view key) const;          ///< F32 or F64

 private:
  struct Contents;
  explicit GgufFile(std::unique_ptr<Contents> contents);
  static Result<GgufFile> read(std::unique_ptr<Contents> contents);

  std::unique_ptr<const Contents> contents_;
};

}  // namespace laya::format

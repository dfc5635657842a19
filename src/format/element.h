// What a tensor's bytes are: one table of element types, and the size that a shape demands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace laya::format {

/// Element types, numbered as in the file (FORMAT.md, "Element types"). Numbers are never reused.
enum class Element : std::uint8_t {
  Bytes = 0,       ///< a blob: no shape, meaning given by its name
  F32 = 1,         ///< row-major, little-endian IEEE 754
  F16 = 2,         ///< row-major, IEEE 754 half
  U8 = 3,          ///< row-major
  I32 = 4,         ///< row-major
  U32 = 5,         ///< row-major
  PackedInt8 = 6,  ///< a matrix [rows, columns], quantised by groups, interleaved as the kernels
                   ///< read it (src/simd/packing.h)
  PackedInt4 = 7,  ///< the same with 4 bits
  PackedF16 =
      8,  ///< a matrix [rows, columns] of IEEE 754 halves in the same interleaving, no groups
  PackedF32 = 9,  ///< the same in floats
};

/// Short name ("f16", "int4", "packed-f16"), as printed by `laya inspect`; empty for a number that
/// is no element type.
std::string_view element_name(Element element);

/// Whether `element` is quantised by groups: Layout::group and has_minima then mean something.
constexpr bool is_quantised(Element element) {
  return element == Element::PackedInt8 || element == Element::PackedInt4;
}

/// Whether `element` is an interleaved matrix: 16 rows × 4 columns, 2-D only.
constexpr bool is_packed(Element element) {
  return is_quantised(element) || element == Element::PackedF16 || element == Element::PackedF32;
}

/// Limits of a `.laya` file, each stated in FORMAT.md.
inline constexpr std::uint64_t kMaxFileBytes = 1ull << 32;
inline constexpr std::uint32_t kMaxEntries = 65536;
inline constexpr std::uint32_t kMaxNameBytes = 255;
inline constexpr std::uint32_t kMaxMetadataBytes = 1u << 20;
inline constexpr std::uint32_t kMaxMetadataDepth = 32;
inline constexpr std::uint32_t kMaxDimensions = 4;
inline constexpr std::uint32_t kMaxPackedDimension = 1u
                                                     << 24;  ///< rows or columns of a packed matrix
inline constexpr std::uint32_t kAlignment = 64;

/// How a tensor is laid out: everything its size follows from.
struct Layout {
  Element element = Element::Bytes;
  std::uint8_t rank = 0;    ///< 0 for blobs, else 1…4
  std::uint16_t group = 0;  ///< columns per scale (32, 64, 128); 0 unless quantised
  bool has_minima = false;  ///< quantised only: each group has an fp16 minimum beside its scale
  std::array<std::uint32_t, kMaxDimensions> shape{};  ///< outermost first; each ≥ 1, unused ones 0

  std::span<const std::uint32_t> dimensions() const { return {shape.data(), rank}; }
  bool operator==(const Layout&) const = default;
};

/// Bytes that `layout` demands. BadArgument where the layout itself is impossible (rank, group, a
/// zero dimension, packed but not 2-D), TooLarge beyond kMaxFileBytes. Bytes (a blob) has no
/// demanded size: BadArgument.
Result<std::uint64_t> tensor_bytes(const Layout& layout);

}  // namespace laya::format

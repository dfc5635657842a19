#include "format/element.h"

#include <array>
#include <string>

namespace laya::format {
namespace {

struct ElementInfo {
  std::string_view name;
  std::uint32_t bits;  ///< of one weight; 0: no tensor
};

// Indexed by the number in the file.
constexpr std::array<ElementInfo, 10> kElements{{
    {"bytes", 0},
    {"f32", 32},
    {"f16", 16},
    {"u8", 8},
    {"i32", 32},
    {"u32", 32},
    {"int8", 8},
    {"int4", 4},
    {"packed-f16", 16},
    {"packed-f32", 32},
}};

Error bad(std::string message) { return {ErrorCode::BadArgument, std::move(message)}; }

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// FORMAT.md, "Packed matrices". Rows and columns are ≤ 2^24, so nothing here comes near 2^64.
std::uint64_t packed_bytes(const Layout& layout, std::uint32_t bits) {
  constexpr std::uint64_t kBlockRows = 16;
  constexpr std::uint64_t kFp16Bytes = 2;
  const std::uint64_t blocks = round_up(layout.shape[0], kBlockRows) / kBlockRows;
  if (!is_quantised(layout.element)) {
    return blocks * round_up(std::uint64_t{layout.shape[1]} * kBlockRows * bits / 8, kAlignment);
  }
  const std::uint64_t columns = round_up(layout.shape[1], layout.group);
  const std::uint64_t tables = layout.has_minima ? 2 : 1;
  const std::uint64_t scales =
      round_up(tables * (columns / layout.group) * kBlockRows * kFp16Bytes, kAlignment);
  return blocks * (scales + columns * kBlockRows * bits / 8);
}

}  // namespace

std::string_view element_name(Element element) {
  const auto index = static_cast<std::size_t>(element);
  return index < kElements.size() ? kElements[index].name : std::string_view{};
}

Result<std::uint64_t> tensor_bytes(const Layout& layout) {
  const auto index = static_cast<std::size_t>(layout.element);
  if (index >= kElements.size() || kElements[index].bits == 0) {
    return bad("element type " + std::to_string(index) + " is no tensor's");
  }
  if (layout.rank < 1 || layout.rank > kMaxDimensions) {
    return bad("rank " + std::to_string(layout.rank) + ", must be 1 to " +
               std::to_string(kMaxDimensions));
  }
  for (std::size_t i = 0; i < kMaxDimensions; ++i) {
    if ((layout.shape[i] == 0) != (i >= layout.rank)) {
      return bad("dimension " + std::to_string(i) + " is " + std::to_string(layout.shape[i]) +
                 " in a tensor of rank " + std::to_string(layout.rank));
    }
  }
  const std::uint32_t bits = kElements[index].bits;
  if (is_quantised(layout.element)) {
    if (layout.group != 32 && layout.group != 64 && layout.group != 128) {
      return bad("group " + std::to_string(layout.group) + ", must be 32, 64 or 128");
    }
  } else if (layout.group != 0 || layout.has_minima) {
    return bad("group or minima in a tensor that is not quantised");
  }
  std::uint64_t bytes = 0;
  if (is_packed(layout.element)) {
    if (layout.rank != 2) {
      return bad("rank " + std::to_string(layout.rank) + ", a packed matrix has 2");
    }
    for (const std::uint32_t dimension : layout.dimensions()) {
      if (dimension > kMaxPackedDimension) {
        return Error{ErrorCode::TooLarge, "dimension " + std::to_string(dimension) +
                                              " of a packed matrix, the limit is " +
                                              std::to_string(kMaxPackedDimension)};
      }
    }
    bytes = packed_bytes(layout, bits);
  } else {
    bytes = bits / 8;
    for (const std::uint32_t dimension : layout.dimensions()) {
      if (bytes > kMaxFileBytes / dimension) {
        bytes = kMaxFileBytes + 1;
        break;
      }
      bytes *= dimension;
    }
  }
  if (bytes > kMaxFileBytes) {
    return Error{ErrorCode::TooLarge,
                 "a tensor larger than " + std::to_string(kMaxFileBytes) + " bytes"};
  }
  return bytes;
}

}  // namespace laya::format

// One tensor of somebody else's checkpoint (GGUF, safetensors, MLX, llama2.c, PyTorch), and how to
// read it: row by row as fp32, or, where it is quantised, as the groups that it is made of, so that
// repacking loses nothing.
//
// A *row* is what the last dimension spans: a tensor [a, b, c] has a·b rows of c columns, a vector
// [n] one row. All bytes are little-endian and need not be aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::format {

/// Limits; each is far beyond any real file.
inline constexpr std::uint64_t kMaxCheckpointBytes = 1ull << 40;
inline constexpr std::uint32_t kMaxSourceTensors = 65536;
inline constexpr std::uint32_t kMaxSourceDimensions = 8;
inline constexpr std::uint64_t kMaxSourceElements = 1ull << 48;
inline constexpr std::uint32_t kMaxSourceNameBytes = 255;

/// How a foreign tensor is stored. The names are those of the formats that they come from.
enum class SourceType : std::uint8_t {
  F32,
  F16,
  BF16,
  F64,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  Bool,
  Q4_0,       ///< GGUF, blocks of 32: fp16 d; w = d·(q − 8)
  Q4_1,       ///< GGUF, blocks of 32: fp16 d, m; w = d·q + m
  Q5_0,       ///< GGUF, blocks of 32: fp16 d; w = d·(q − 16)
  Q5_1,       ///< GGUF, blocks of 32: fp16 d, m; w = d·q + m
  Q8_0,       ///< GGUF, blocks of 32: fp16 d; w = d·q, q signed
  Q4_K,       ///< GGUF, blocks of 256 in groups of 32, 6-bit scales and minima of fp16 d, dmin
  Q5_K,       ///< the same with 5 bits
  Q6_K,       ///< GGUF, blocks of 256 in groups of 16, 8-bit scales of fp16 d; w = d·s·(q − 32)
  MlxAffine,  ///< MLX: 4 or 8 bits in u32 words, scales and biases in tensors of their own;
              ///< w = scale·q + bias, groups of 32, 64 or 128
  Int8Groups,  ///< llama2.c version 2: int8 codes, then fp32 scales; w = scale·q
};

/// "F16", "Q4_K", "MlxAffine" …, for messages and tables.
std::string_view source_type_name(SourceType type);

/// What a quantised row is made of: w = scale·(code − centre) (+ minimum).
struct GroupScheme {
  std::uint32_t bits;    ///< 4, 5, 6 or 8: codes lie in 0 … 2^bits − 1
  std::uint32_t group;   ///< columns that share a scale: 16, 32, 64, 128 (llama2.c: any)
  std::uint32_t centre;  ///< 0 where has_minima
  bool has_minima;
};

/// Views into an open file; the owner of the file (GgufFile, Checkpoint, …) keeps them valid, moves
/// included. Every reader has checked that `bytes` is exactly what type and shape demand, that each
/// dimension is ≥ 1, and that the number of elements fits 2^48.
struct SourceTensor {
  std::string name;  ///< as in the file; MlxAffine: that of the packed weights ("….weight")
  SourceType type = SourceType::F32;
  std::vector<std::uint64_t> shape;  ///< outermost first, in elements (MlxAffine: unpacked); a
                                     ///< scalar has none, and counts as one row of one column
  std::span<const std::byte>
      bytes;  ///< as stored: whole blocks; the codes of MlxAffine, Int8Groups

  // MlxAffine and Int8Groups only.
  std::uint32_t bits = 0;
  std::uint32_t group = 0;
  SourceType scale_type = SourceType::F32;  ///< F32, F16 or BF16: of scales and minima
  std::span<const std::byte> scales;        ///< [rows, columns / group]
  std::span<const std::byte> minima;        ///< the same; MlxAffine only ("biases")

  std::uint64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  std::uint64_t rows() const;
  std::uint64_t elements() const { return rows() * columns(); }
};

/// "[2, 64]"
std::string shape_text(std::span<const std::uint64_t> shape);

/// `text` in quotes, for messages: at most 80 bytes, whatever is not printable ASCII as \xHH.
std::string in_quotes(std::string_view text);

/// The tensor of that name in a list sorted by name, or null.
const SourceTensor* find_sorted(std::span<const SourceTensor> tensors, std::string_view name);

/// Rows first … first + count − 1 as fp32 into `out` ([count, columns]). Exact for F32, F16, BF16
/// (NaNs keep their payload); F64 is rounded; quantised types give the same bits as the reference
/// dequantisers of their formats (products and sums rounded to fp32, one after the other).
/// Errors: BadArgument (range or out.size()), Unsupported (integers and booleans), named.
Status read_rows(const SourceTensor& tensor, std::uint64_t first, std::uint64_t count,
                 std::span<float> out);

/// The scheme of a quantised tensor, nothing for any other.
std::optional<GroupScheme> group_scheme(const SourceTensor& tensor);

/// The groups of one row: codes [columns], scales [columns / group], minima the same where the
/// scheme has them and empty where not. Signed formats are given with their centre added (Q8_0:
/// code = q + 128), so that all codes are unsigned. scales and minima are the exact fp32 values:
/// Q4_1 and the other fp16 blocks convert back to fp16 without loss; Q4_K, Q5_K: d·sc and
/// −(dmin·m); Q6_K: d·sc (fp16 × small integer: exact in fp32, not in fp16). Errors BadArgument:
/// not quantised, no such row, a span of the wrong size.
Status read_groups(const SourceTensor& tensor, std::uint64_t row, std::span<std::uint8_t> codes,
                   std::span<float> scales, std::span<float> minima);

}  // namespace laya::format

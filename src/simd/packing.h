// Packed weights: one layout for every CPU, stored in model files exactly as the kernels read it,
// so loading is an mmap.
//
// A matrix is cut into blocks of 16 rows. A block is one run of bytes, a multiple of 64 long:
//   Int8, Int4:  scales  fp16[groups][16]           (row in the block varies fastest)
//                minima  fp16[groups][16]           only with Minima::PerGroup
//                zero bytes up to a multiple of 64
//                codes   Int8: u8[padded_cols / 4][16 rows][4 columns]
//                        Int4: u8[padded_cols / 8][16 rows][4 columns], low nibble = columns
//                        8i..8i+3, high = 8i+4..8i+7
//   Fp16, Fp32:  [cols][16 rows], then zero bytes up to a multiple of 64
// weight = scale * (code - centre), centre 128 (Int8) or 8 (Int4); with minima: weight = minimum +
// scale * code. Int8 codes are 1..255: code 0 is never written, so that code - 128 can change sign
// in 8 bits (AVX2 needs it). Rows beyond `rows` and columns beyond `cols` are zero weights.
// Rejected: scales between the codes (64-byte loads would straddle cache lines) and a layout per
// CPU (a file could then not be mmapped everywhere).
//
// Endianness: little, as every CPU we support.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "simd/kernel_types.h"

namespace laya::simd {

/// Alignment of the first byte of every packed matrix, in memory and in files.
inline constexpr std::size_t kPackedAlignment = 64;

/// Upper limit of rows and of columns. Keeps every size below far from overflow; larger is
/// TooLarge.
inline constexpr std::size_t kMaxDimension = std::size_t{1} << 24;

/// What a packed matrix is; with the bytes, all that is needed to read it.
struct PackedShape {
  std::size_t rows = 0;  ///< 1..kMaxDimension
  std::size_t cols = 0;  ///< 1..kMaxDimension
  WeightType type = WeightType::Int8;
  std::size_t group = 64;  ///< 32, 64 or 128 columns per scale; ignored (write 0) for Fp16 and Fp32
  Minima minima = Minima::None;  ///< None for Fp16 and Fp32
};

/// BadArgument or TooLarge with the field and its limit, or success. For shapes read from files.
Status check_shape(const PackedShape& shape);

/// Bytes of the packed matrix. Requires check_shape(shape) to succeed.
std::size_t packed_size_bytes(const PackedShape& shape);

/// A view over packed bytes: checks the shape, `bytes.size() == packed_size_bytes(shape)` and the
/// 64-byte alignment. The bytes must outlive the view. Any content is safe to compute with (garbage
/// in, garbage out, never out of bounds).
Result<PackedMatrix> view_packed(const PackedShape& shape, std::span<const std::byte> bytes);

/// Quantises and packs `weights` (fp32, row-major [rows, cols]) into `out` (exactly
/// packed_size_bytes, any alignment). Int8 without minima rounds to nearest with scale = max|w| /
/// 127; the others search a few scales per group for the least squared error. A non-finite weight
/// is BadArgument; so is one over 32768 in magnitude, except for Fp32: fp16 scales could become
/// infinite. Deterministic; allocates nothing.
Status pack(const PackedShape& shape, std::span<const float> weights, std::span<std::byte> out);

/// Rows that are quantised already (another format's, or a search of the caller's), as the formula
/// above means them.
struct CodedRows {
  std::span<const std::uint16_t> scales;  ///< fp16 [rows, groups], groups = cols / group
  std::span<const std::uint16_t> minima;  ///< the same with Minima::PerGroup, else empty
  std::span<const std::uint8_t> codes;    ///< [rows, cols]: 0..15 (Int4), 1..255 (Int8)
};

/// Packs `coded` as it is into `out` (exactly packed_size_bytes, any alignment): nothing is rounded
/// or searched. BadArgument: not Int4 or Int8, cols no multiple of the group, a span of the wrong
/// size, a code outside its range, a scale or minimum that is NaN or infinite. Allocates nothing.
Status pack_codes(const PackedShape& shape, const CodedRows& coded, std::span<std::byte> out);

/// The weights that `matrix` stands for, as fp32, row-major [rows, cols]: what the reference
/// backend computes with. `out` has rows * cols elements (BadArgument otherwise).
Status unpack(const PackedMatrix& matrix, std::span<float> out);

}  // namespace laya::simd

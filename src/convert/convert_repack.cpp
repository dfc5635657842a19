#include "convert/convert_repack.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/float16.h"
#include "simd/packing.h"

namespace laya::convert {
namespace {

using format::GroupScheme;
using format::SourceTensor;
using model::AlignedBytes;
using model::Precision;
using simd::Minima;
using simd::WeightType;

bool grouped(WeightType type) { return type == WeightType::Int4 || type == WeightType::Int8; }

simd::PackedShape shape_of(const Precision& precision, std::size_t rows, std::size_t cols) {
  const bool quantised = grouped(precision.type);
  return {rows, cols, precision.type, quantised ? precision.group : std::size_t{0},
          quantised ? precision.minima : Minima::None};
}

/// Sixteen rows of codes and what they mean, before they are packed.
struct BlockCodes {
  std::vector<std::uint8_t> codes;            ///< [16, cols]
  std::vector<std::uint16_t> scales, minima;  ///< [16, groups]

  BlockCodes(std::size_t cols, const Precision& precision)
      : codes(simd::kBlockRows * cols),
        scales(simd::kBlockRows * (cols / precision.group)),
        minima(precision.minima == Minima::PerGroup ? scales.size() : 0) {}

  simd::CodedRows first(std::size_t rows) const {
    const auto share = [&](std::size_t size) { return size / simd::kBlockRows * rows; };
    return {std::span(scales).first(share(scales.size())),
            std::span(minima).first(share(minima.size())),
            std::span(codes).first(share(codes.size()))};
  }
};

/// The codes of one group as our formula wants them. Scale and minimum may change with them.
struct GroupChange {
  int add = 0;             ///< to every code
  float minimum_less = 0;  ///< in scales: what `add` must take from the minimum
};

/// Int8 codes are 1…255. Sources of fewer bits have room; 8-bit ones with minima may use all 256,
/// and then the least frequent end moves by one.
GroupChange change_for(const GroupScheme& scheme, const Precision& target,
                       std::span<const std::uint8_t> codes) {
  if (!scheme.has_minima) {
    const int centre = target.type == WeightType::Int4 ? simd::kCentreInt4 : simd::kCentreInt8;
    return {centre - static_cast<int>(scheme.centre), 0};
  }
  if (target.type == WeightType::Int4) return {};
  const auto lowest = std::ranges::count(codes, std::uint8_t{0});
  if (lowest == 0) return {};
  return std::ranges::count(codes, std::uint8_t{255}) <= lowest ? GroupChange{1, 1.0F}
                                                                : GroupChange{};
}

/// Reads rows as groups and gives them in our codes.
class GroupReader {
 public:
  GroupReader(const SourceTensor& tensor, const GroupScheme& scheme, const Precision& target)
      : tensor_(tensor),
        scheme_(scheme),
        target_(target),
        cols_(tensor.columns()),
        scales_(cols_ / scheme.group),
        minima_(scheme.has_minima ? scales_.size() : 0),
        codes_(cols_) {}

  Status read(std::uint32_t row, std::size_t lane, BlockCodes& block, RepackLoss& loss) {
    if (auto status = format::read_groups(tensor_, row, codes_, scales_, minima_); !status) {
      return status;
    }
    for (std::size_t g = 0; g < scales_.size(); ++g) {
      const std::span<std::uint8_t> codes =
          std::span(codes_).subspan(g * scheme_.group, scheme_.group);
      const GroupChange change = change_for(scheme_, target_, codes);
      const std::uint16_t scale_bits = simd::fp16_from_float(scales_[g]);
      const float scale = simd::float_from_fp16(scale_bits);
      const std::size_t at = lane * scales_.size() + g;
      block.scales[at] = scale_bits;
      float base = -static_cast<float>(scheme_.centre) * scales_[g];
      float our_base = 0;
      if (scheme_.has_minima) {
        base = minima_[g];
        block.minima[at] = simd::fp16_from_float(base - change.minimum_less * scale);
        our_base = simd::float_from_fp16(block.minima[at]);
      } else {
        our_base = -static_cast<float>(static_cast<int>(scheme_.centre) + change.add) * scale;
      }
      for (std::size_t i = 0; i < codes.size(); ++i) {
        int code = codes[i] + change.add;
        if (target_.type == WeightType::Int8 && (code < 1 || code > 255)) {
          code = std::clamp(code, 1, 255);
          ++loss.clamped;
        }
        block.codes[lane * cols_ + g * scheme_.group + i] = static_cast<std::uint8_t>(code);
        const double was = base + scales_[g] * static_cast<float>(codes[i]);
        const double is = our_base + scale * static_cast<float>(code);
        loss.squared_error += (is - was) * (is - was);
        loss.squared_weights += was * was;
      }
    }
    return {};
  }

 private:
  const SourceTensor& tensor_;
  const GroupScheme scheme_;
  const Precision target_;
  const std::size_t cols_;
  std::vector<float> scales_, minima_;
  std::vector<std::uint8_t> codes_;
};

/// A bad number in a file is the file's fault, not the caller's.
Error as_corrupt(Error error) {
  if (error.code == ErrorCode::BadArgument) error.code = ErrorCode::Corrupt;
  return error;
}

/// The bytes of block `b` of a packed matrix whose blocks are all alike.
std::span<std::byte> block_of(AlignedBytes& bytes, std::size_t b, std::size_t block_bytes) {
  return bytes.bytes().subspan(b * block_bytes, block_bytes);
}

/// What was packed against what should have been, [rows, cols] both.
Status add_loss(const simd::PackedShape& shape, std::span<const std::byte> bytes,
                std::span<const float> wanted, std::span<float> scratch, RepackLoss& loss) {
  auto view = simd::view_packed(shape, bytes);
  if (!view) return view.error();
  const std::span<float> got = scratch.first(wanted.size());
  if (auto status = simd::unpack(*view, got); !status) return status;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double off = static_cast<double>(got[i]) - wanted[i];
    loss.squared_error += off * off;
    loss.squared_weights += static_cast<double>(wanted[i]) * wanted[i];
  }
  return {};
}

}  // namespace

double RepackLoss::relative() const {
  return squared_weights > 0 ? std::sqrt(squared_error / squared_weights) : 0;
}

std::optional<Precision> exact_precision(const SourceTensor& tensor) {
  const std::optional<GroupScheme> scheme = format::group_scheme(tensor);
  if (!scheme || (scheme->group != 32 && scheme->group != 64 && scheme->group != 128)) {
    return std::nullopt;
  }
  if (tensor.columns() % scheme->group != 0) return std::nullopt;
  const bool four = scheme->bits == 4 && (scheme->has_minima || scheme->centre == 8);
  Precision precision;
  precision.type = four ? WeightType::Int4 : WeightType::Int8;
  precision.group = static_cast<std::uint16_t>(scheme->group);
  precision.minima = scheme->has_minima ? Minima::PerGroup : Minima::None;
  return precision;
}

Result<AlignedBytes> repack(const SourceTensor& tensor, std::span<const std::uint32_t> rows,
                            const Precision& precision, RepackLoss& loss) {
  const std::size_t cols = tensor.columns();
  const simd::PackedShape shape = shape_of(precision, rows.size(), cols);
  if (auto status = simd::check_shape(shape); !status) return status.error();
  simd::PackedShape block_shape = shape;
  block_shape.rows = simd::kBlockRows;
  const std::size_t block_bytes = simd::packed_size_bytes(block_shape);
  AlignedBytes bytes(simd::packed_size_bytes(shape));
  const bool exact = exact_precision(tensor) == precision;
  std::vector<float> floats, scratch;
  std::optional<GroupReader> groups;
  std::optional<BlockCodes> codes;
  if (exact) {
    groups.emplace(tensor, *format::group_scheme(tensor), precision);
    codes.emplace(cols, precision);
  } else {
    floats.resize(simd::kBlockRows * cols);
    scratch.resize(floats.size());
  }
  for (std::size_t first = 0; first < rows.size(); first += simd::kBlockRows) {
    const std::size_t count = std::min(simd::kBlockRows, rows.size() - first);
    block_shape.rows = count;
    const std::span<std::byte> block = block_of(bytes, first / simd::kBlockRows, block_bytes);
    Status status;
    for (std::size_t lane = 0; status && lane < count; ++lane) {
      const std::uint32_t row = rows[first + lane];
      status =
          exact ? groups->read(row, lane, *codes, loss)
                : format::read_rows(tensor, row, 1, std::span(floats).subspan(lane * cols, cols));
    }
    if (!status) return status.error();
    const std::span<const float> wanted =
        std::span<const float>(floats).first(exact ? 0 : count * cols);
    status = exact ? simd::pack_codes(block_shape, codes->first(count), block)
                   : simd::pack(block_shape, wanted, block);
    if (!status) return as_corrupt(status.error());
    if (!exact) {
      if (status = add_loss(block_shape, block, wanted, scratch, loss); !status) {
        return status.error();
      }
    }
  }
  return bytes;
}

}  // namespace laya::convert

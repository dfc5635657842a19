#include "simd/packing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "simd/float16.h"
#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool is_quantised(WeightType type) { return type == WeightType::Int4 || type == WeightType::Int8; }

Error bad(const char* field, std::size_t value, const char* rule) {
  return {ErrorCode::BadArgument,
          std::string("packed matrix: ") + field + " is " + std::to_string(value) + ", " + rule};
}

// All numbers of the layout, without the data. Requires a checked shape.
PackedMatrix layout_of(const PackedShape& shape) {
  PackedMatrix m;
  m.rows = shape.rows;
  m.cols = shape.cols;
  m.type = shape.type;
  m.minima = shape.minima;
  m.blocks = (shape.rows + kBlockRows - 1) / kBlockRows;
  if (is_quantised(shape.type)) {
    m.group = shape.group;
    m.padded_cols = round_up(shape.cols, shape.group);
    m.groups = m.padded_cols / shape.group;
    const std::size_t table = m.groups * kBlockRows * sizeof(std::uint16_t);
    const bool has_minima = shape.minima == Minima::PerGroup;
    m.minima_offset = has_minima ? table : 0;
    m.codes_offset = round_up(has_minima ? 2 * table : table, kPackedAlignment);
    const std::size_t codes = m.padded_cols * kBlockRows;
    m.block_bytes = m.codes_offset + (shape.type == WeightType::Int4 ? codes / 2 : codes);
  } else {
    m.padded_cols = shape.cols;
    const std::size_t size = shape.type == WeightType::Fp16 ? sizeof(std::uint16_t) : sizeof(float);
    m.block_bytes = round_up(shape.cols * kBlockRows * size, kPackedAlignment);
  }
  return m;
}

// fp16 ends at 65504; below half of it no scale and no minimum of a group can become infinite
// (fuzz_network found 1e30).
constexpr float kMaxPackedWeight = 32768.0f;

// Scale and minimum of one group of one row, already rounded to fp16, and the codes' range.
struct GroupCode {
  std::uint16_t scale_bits = 0;
  std::uint16_t minimum_bits = 0;
};

struct Range {
  int centre;  // code of zero without minima
  int lowest;  // codes used
  int highest;
};

constexpr Range range_of(WeightType type) {
  return type == WeightType::Int8 ? Range{kCentreInt8, 1, 255} : Range{kCentreInt4, 0, 15};
}

int code_of(float weight, float scale, float base, const Range& range) {
  if (scale == 0.0f) return range.centre;
  const float code = std::nearbyint((weight - base) / scale);
  return static_cast<int>(
      std::clamp(code, static_cast<float>(range.lowest), static_cast<float>(range.highest)));
}

// The weight of code 0: the minimum, or what the centre implies.
float base_of(const GroupCode& group, float scale, const Range& range, Minima minima) {
  return minima == Minima::PerGroup ? float_from_fp16(group.minimum_bits)
                                    : -scale * static_cast<float>(range.centre);
}

double squared_error(std::span<const float> weights, const GroupCode& group, const Range& range,
                     Minima minima) {
  const float scale = float_from_fp16(group.scale_bits);
  const float base = base_of(group, scale, range, minima);
  double total = 0;
  for (const float w : weights) {
    const double off = base + scale * static_cast<float>(code_of(w, scale, base, range)) - w;
    total += off * off;
  }
  return total;
}

// fp16 for a scale: never too small to reach the largest weight by more than half a step.
std::uint16_t scale_bits_for(float extent, float steps) {
  std::uint16_t bits = fp16_from_float(extent / steps);
  if (bits < 0x7BFF && float_from_fp16(bits) * (steps + 0.5f) < extent) ++bits;
  return bits;
}

GroupCode symmetric_group(std::span<const float> weights, WeightType type) {
  const Range range = range_of(type);
  float low = 0.0f;
  float high = 0.0f;
  for (const float w : weights) {
    low = std::min(low, w);
    high = std::max(high, w);
  }
  const float extent = std::max(-low, high);
  if (type == WeightType::Int8) return {scale_bits_for(extent, 127.0f), 0};
  // Int4 has -8 but no +8, and a few clipped outliers can be worth a finer step for the rest: try,
  // and keep the best. A scale of 0.6 of the extent hardly ever wins on normal or Laplace weights;
  // 8 / 7 of it lets +extent have a code. The plain scale comes first, so it wins a tie.
  GroupCode best;
  double best_error = -1.0;
  for (int step = 0; step < 30; ++step) {
    const float fraction =
        step == 0 ? 1.0f : static_cast<float>(29 + step) / 50.0f;  // 0.60 .. 1.16
    const GroupCode group{fp16_from_float(extent * fraction / 8.0f), 0};
    const double error = squared_error(weights, group, range, Minima::None);
    if (best_error < 0 || error < best_error) {
      best = group;
      best_error = error;
    }
  }
  return best;
}

GroupCode asymmetric_group(std::span<const float> weights, WeightType type) {
  const Range range = range_of(type);
  const auto [low, high] = std::minmax_element(weights.begin(), weights.end());
  const float steps = static_cast<float>(range.highest - range.lowest);
  GroupCode best;
  double best_error = -1.0;
  // Int8 has steps to spare; Int4 tries clipping both ends by up to 30 %.
  const int tries = type == WeightType::Int4 ? 16 : 1;
  for (int step = 0; step < tries; ++step) {
    const float keep = 1.0f - 0.02f * static_cast<float>(step);
    const float middle = 0.5f * (*low + *high);
    const float first = middle + (*low - middle) * keep;
    GroupCode group;
    group.scale_bits = scale_bits_for((*high - *low) * keep, steps);
    const float scale = float_from_fp16(group.scale_bits);
    group.minimum_bits = fp16_from_float(first - scale * static_cast<float>(range.lowest));
    const double error = squared_error(weights, group, range, Minima::PerGroup);
    if (best_error < 0 || error < best_error) {
      best = group;
      best_error = error;
    }
  }
  return best;
}

void put16(std::byte* at, std::uint16_t value) { std::memcpy(at, &value, sizeof value); }

void put_code(const PackedMatrix& m, std::byte* block, std::size_t row, std::size_t col, int code) {
  const std::size_t quad = col / kQuad;
  const std::size_t lane = row * kQuad + col % kQuad;
  if (m.type == WeightType::Int8) {
    block[m.codes_offset + quad * 64 + lane] = static_cast<std::byte>(code);
  } else {
    block[m.codes_offset + quad / 2 * 64 + lane] |=
        static_cast<std::byte>(quad % 2 == 0 ? code : code << 4);
  }
}

void pack_quantised_row(const PackedMatrix& m, std::span<const float> weights, std::size_t row,
                        std::byte* block) {
  const Range range = range_of(m.type);
  for (std::size_t g = 0; g < m.groups; ++g) {
    const std::size_t first = g * m.group;
    const std::size_t size =
        weights.size() <= first ? 0 : std::min(m.group, weights.size() - first);
    const std::span<const float> part = weights.subspan(std::min(first, weights.size()), size);
    GroupCode group;
    if (!part.empty()) {
      group = m.minima == Minima::PerGroup ? asymmetric_group(part, m.type)
                                           : symmetric_group(part, m.type);
    }
    const float scale = float_from_fp16(group.scale_bits);
    const float base = base_of(group, scale, range, m.minima);
    const std::size_t at = (g * kBlockRows + row) * sizeof(std::uint16_t);
    put16(block + at, group.scale_bits);
    if (m.minima == Minima::PerGroup) put16(block + m.minima_offset + at, group.minimum_bits);
    for (std::size_t i = 0; i < m.group; ++i) {
      put_code(m, block, row, first + i,
               i < size ? code_of(part[i], scale, base, range) : range.centre);
    }
  }
}

void pack_float_row(const PackedMatrix& m, std::span<const float> weights, std::size_t row,
                    std::byte* block) {
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const std::size_t at = k * kBlockRows + row;
    if (m.type == WeightType::Fp16) {
      put16(block + at * sizeof(std::uint16_t), fp16_from_float(weights[k]));
    } else {
      std::memcpy(block + at * sizeof(float), &weights[k], sizeof(float));
    }
  }
}

}  // namespace

Status check_shape(const PackedShape& shape) {
  if (shape.rows == 0) return bad("rows", shape.rows, "at least 1 is needed");
  if (shape.cols == 0) return bad("cols", shape.cols, "at least 1 is needed");
  for (const std::size_t size : {shape.rows, shape.cols}) {
    if (size > kMaxDimension) {
      return Error{ErrorCode::TooLarge, "packed matrix: a dimension of " + std::to_string(size) +
                                            " is over the limit of " +
                                            std::to_string(kMaxDimension)};
    }
  }
  switch (shape.type) {
    case WeightType::Int4:
    case WeightType::Int8:
      if (shape.group != 32 && shape.group != 64 && shape.group != 128) {
        return bad("group", shape.group, "32, 64 or 128 is needed");
      }
      if (shape.minima != Minima::None && shape.minima != Minima::PerGroup) {
        return bad("minima", static_cast<std::size_t>(shape.minima), "0 or 1 is needed");
      }
      return {};
    case WeightType::Fp16:
    case WeightType::Fp32:
      if (shape.minima != Minima::None) return bad("minima", 1, "0 is needed for fp16 and fp32");
      return {};
  }
  return bad("type", static_cast<std::size_t>(shape.type), "4, 8, 16 or 32 is needed");
}

std::size_t packed_size_bytes(const PackedShape& shape) {
  const PackedMatrix m = layout_of(shape);
  return m.blocks * m.block_bytes;
}

Result<PackedMatrix> view_packed(const PackedShape& shape, std::span<const std::byte> bytes) {
  if (Status checked = check_shape(shape); !checked) return std::move(checked).error();
  PackedMatrix m = layout_of(shape);
  const std::size_t wanted = m.blocks * m.block_bytes;
  if (bytes.size() != wanted) {
    return Error{ErrorCode::Corrupt, "packed matrix: " + std::to_string(bytes.size()) +
                                         " bytes where its shape needs " + std::to_string(wanted)};
  }
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kPackedAlignment != 0) {
    return Error{ErrorCode::BadArgument, "packed matrix: its first byte is not 64-byte aligned"};
  }
  m.data = bytes.data();
  return m;
}

Status pack(const PackedShape& shape, std::span<const float> weights, std::span<std::byte> out) {
  if (Status checked = check_shape(shape); !checked) return checked;
  const PackedMatrix m = layout_of(shape);
  if (weights.size() != m.rows * m.cols)
    return bad("number of weights", weights.size(), "rows * cols is needed");
  if (out.size() != m.blocks * m.block_bytes) {
    return bad("output size", out.size(), "packed_size_bytes(shape) is needed");
  }
  for (const float w : weights) {
    if (!std::isfinite(w))
      return Error{ErrorCode::BadArgument, "packed matrix: a weight is NaN or infinite"};
    if (m.type != WeightType::Fp32 && !(std::fabs(w) <= kMaxPackedWeight)) {
      return Error{ErrorCode::BadArgument,
                   "packed matrix: a weight is over 32768 in magnitude, "
                   "which fp16 scales cannot hold"};
    }
  }
  std::fill(out.begin(), out.end(), std::byte{0});
  for (std::size_t row = 0; row < m.blocks * kBlockRows; ++row) {
    std::byte* block = out.data() + row / kBlockRows * m.block_bytes;
    const std::span<const float> one =
        row < m.rows ? weights.subspan(row * m.cols, m.cols) : std::span<const float>();
    if (is_quantised(m.type)) {
      pack_quantised_row(m, one, row % kBlockRows, block);
    } else {
      pack_float_row(m, one, row % kBlockRows, block);
    }
  }
  return {};
}

Status pack_codes(const PackedShape& shape, const CodedRows& coded, std::span<std::byte> out) {
  if (Status checked = check_shape(shape); !checked) return checked;
  const PackedMatrix m = layout_of(shape);
  if (!is_quantised(m.type)) return bad("type", 0, "int4 or int8 is needed for codes");
  if (m.padded_cols != m.cols) return bad("cols", m.cols, "a multiple of the group is needed");
  const std::size_t tables = m.rows * m.groups;
  if (coded.codes.size() != m.rows * m.cols) {
    return bad("number of codes", coded.codes.size(), "rows * cols is needed");
  }
  if (coded.scales.size() != tables ||
      coded.minima.size() != (m.minima == Minima::PerGroup ? tables : 0)) {
    return bad("number of scales", coded.scales.size(), "rows * groups is needed, minima alike");
  }
  if (out.size() != m.blocks * m.block_bytes) {
    return bad("output size", out.size(), "packed_size_bytes(shape) is needed");
  }
  constexpr std::uint16_t kExponent = 0x7C00;  // all ones: infinite or NaN
  const auto finite = [](std::uint16_t bits) { return (bits & kExponent) != kExponent; };
  if (!std::ranges::all_of(coded.scales, finite) || !std::ranges::all_of(coded.minima, finite)) {
    return Error{ErrorCode::BadArgument, "packed matrix: a scale or minimum is NaN or infinite"};
  }
  const Range range = range_of(m.type);
  for (const std::uint8_t code : coded.codes) {
    if (code < range.lowest || code > range.highest) {
      return bad("code", code, m.type == WeightType::Int4 ? "0..15 is needed" : "1..255 is needed");
    }
  }
  std::fill(out.begin(), out.end(), std::byte{0});
  for (std::size_t row = 0; row < m.blocks * kBlockRows; ++row) {
    std::byte* block = out.data() + row / kBlockRows * m.block_bytes;
    const std::size_t lane = row % kBlockRows;
    const bool real = row < m.rows;
    for (std::size_t g = 0; real && g < m.groups; ++g) {
      const std::size_t at = (g * kBlockRows + lane) * sizeof(std::uint16_t);
      put16(block + at, coded.scales[row * m.groups + g]);
      if (m.minima == Minima::PerGroup) {
        put16(block + m.minima_offset + at, coded.minima[row * m.groups + g]);
      }
    }
    for (std::size_t col = 0; col < m.cols; ++col) {
      put_code(m, block, lane, col, real ? coded.codes[row * m.cols + col] : range.centre);
    }
  }
  return {};
}

Status unpack(const PackedMatrix& matrix, std::span<float> out) {
  if (out.size() != matrix.rows * matrix.cols)
    return bad("output size", out.size(), "rows * cols is needed");
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    dequantize_row_scalar(matrix, row, out.data() + row * matrix.cols);
  }
  return {};
}

}  // namespace laya::simd

#include "simd/packing.h"

#include <gtest/gtest.h>

#include <limits>

#include "simd/float16.h"
#include "simd/test_data.h"

namespace laya::simd {
namespace {

struct Case {
  const char* name;
  WeightType type;
  std::size_t group;
  Minima minima;
  double worst_error;  // root mean square, relative to that of the weights
};

// Uniform noise of one step has deviation step / sqrt(12): int8 ~ 0.6 %, int4 ~ 10 % of normal
// weights.
constexpr Case kCases[] = {
    {"fp32", WeightType::Fp32, 0, Minima::None, 0.0},
    {"fp16", WeightType::Fp16, 0, Minima::None, 0.0005},
    {"int8/32", WeightType::Int8, 32, Minima::None, 0.007},
    {"int8/64", WeightType::Int8, 64, Minima::None, 0.007},
    {"int8/128", WeightType::Int8, 128, Minima::None, 0.008},
    {"int8/64 min", WeightType::Int8, 64, Minima::PerGroup, 0.007},
    {"int4/32", WeightType::Int4, 32, Minima::None, 0.09},
    {"int4/64", WeightType::Int4, 64, Minima::None, 0.10},
    {"int4/128", WeightType::Int4, 128, Minima::None, 0.11},
    {"int4/32 min", WeightType::Int4, 32, Minima::PerGroup, 0.09},
    {"int4/128 min", WeightType::Int4, 128, Minima::PerGroup, 0.11},
};

double relative_error(std::span<const float> got, std::span<const float> want) {
  double off = 0;
  double size = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    off += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(off / size);
}

TEST(Packing, UnpackGivesTheWeightsBackWithinTheStep) {
  for (const Case& c : kCases) {
    for (const std::size_t rows : {1u, 16u, 37u}) {
      for (const std::size_t cols : {1u, 31u, 128u, 200u}) {
        SCOPED_TRACE(testing::Message() << c.name << " " << rows << " x " << cols);
        const PackedShape shape{rows, cols, c.type, c.group, c.minima};
        const std::vector<float> weights = Numbers(rows * 1000 + cols).normal(rows * cols, 0.05f);
        AlignedBytes bytes(packed_size_bytes(shape));
        ASSERT_TRUE(pack(shape, weights, bytes.span()).has_value());
        const PackedMatrix view = view_packed(shape, bytes.span()).value();
        std::vector<float> back(weights.size());
        ASSERT_TRUE(unpack(view, back).has_value());
        EXPECT_LE(relative_error(back, weights), c.worst_error + 1e-12);
      }
    }
  }
}

TEST(Packing, MinimaServeWeightsThatAreAllPositive) {
  std::vector<float> weights = Numbers(3).uniform(16 * 64, 0.1f);
  for (float& w : weights) w += 1.0f;
  const auto error_with = [&weights](Minima minima) {
    const PackedShape shape{16, 64, WeightType::Int4, 32, minima};
    AlignedBytes bytes(packed_size_bytes(shape));
    EXPECT_TRUE(pack(shape, weights, bytes.span()).has_value());
    std::vector<float> back(weights.size());
    EXPECT_TRUE(unpack(view_packed(shape, bytes.span()).value(), back).has_value());
    return relative_error(back, weights);
  };
  EXPECT_LT(error_with(Minima::PerGroup), 0.2 * error_with(Minima::None));
}

TEST(Packing, Int8NeverWritesCodeZero) {
  for (const Minima minima : {Minima::None, Minima::PerGroup}) {
    const PackedShape shape{16, 64, WeightType::Int8, 32, minima};
    std::vector<float> weights = Numbers(5).uniform(16 * 64, 1.0f);
    weights[0] = -7.0f;  // the largest of its group, on the negative side
    AlignedBytes bytes(packed_size_bytes(shape));
    ASSERT_TRUE(pack(shape, weights, bytes.span()).has_value());
    const PackedMatrix view = view_packed(shape, bytes.span()).value();
    for (std::size_t i = view.codes_offset; i < view.block_bytes; ++i)
      EXPECT_NE(view.data[i], std::byte{0});
  }
}

TEST(Packing, TinyAndZeroWeightsStaySmall) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const PackedShape shape{16, 128, c.type, c.group, c.minima};
    std::vector<float> weights(16 * 128, 0.0f);
    weights[7] = 1e-12f;
    AlignedBytes bytes(packed_size_bytes(shape));
    ASSERT_TRUE(pack(shape, weights, bytes.span()).has_value());
    std::vector<float> back(weights.size());
    ASSERT_TRUE(unpack(view_packed(shape, bytes.span()).value(), back).has_value());
    for (const float w : back) EXPECT_LE(std::fabs(w), 1e-6f);
  }
}

TEST(Packing, BadShapesAreRefusedWithTheField) {
  const struct {
    PackedShape shape;
    ErrorCode code;
    const char* field;
  } cases[] = {
      {{0, 1, WeightType::Int8, 64, Minima::None}, ErrorCode::BadArgument, "rows"},
      {{1, 0, WeightType::Int8, 64, Minima::None}, ErrorCode::BadArgument, "cols"},
      {{1, 1, WeightType::Int8, 48, Minima::None}, ErrorCode::BadArgument, "group"},
      {{1, 1, WeightType::Int4, 0, Minima::None}, ErrorCode::BadArgument, "group"},
      {{1, 1, static_cast<WeightType>(7), 64, Minima::None}, ErrorCode::BadArgument, "type"},
      {{1, 1, WeightType::Int8, 64, static_cast<Minima>(9)}, ErrorCode::BadArgument, "minima"},
      {{1, 1, WeightType::Fp16, 0, Minima::PerGroup}, ErrorCode::BadArgument, "minima"},
      {{kMaxDimension + 1, 1, WeightType::Int8, 64, Minima::None},
       ErrorCode::TooLarge,
       "dimension"},
      {{1, ~std::size_t{0}, WeightType::Fp32, 0, Minima::None}, ErrorCode::TooLarge, "dimension"},
  };
  for (const auto& c : cases) {
    const Status status = check_shape(c.shape);
    ASSERT_FALSE(status.has_value()) << c.field;
    EXPECT_EQ(status.error().code, c.code);
    EXPECT_NE(status.error().message.find(c.field), std::string::npos) << status.error().message;
    EXPECT_FALSE(view_packed(c.shape, {}).has_value());
  }
}

TEST(Packing, ViewRefusesWrongSizeAndAlignment) {
  const PackedShape shape{20, 64, WeightType::Int4, 32, Minima::PerGroup};
  AlignedBytes bytes(packed_size_bytes(shape) + 64);
  const std::size_t size = packed_size_bytes(shape);
  EXPECT_TRUE(view_packed(shape, bytes.span().first(size)).has_value());
  EXPECT_EQ(view_packed(shape, bytes.span().first(size - 1)).error().code, ErrorCode::Corrupt);
  EXPECT_EQ(view_packed(shape, bytes.span().first(size + 1)).error().code, ErrorCode::Corrupt);
  EXPECT_EQ(view_packed(shape, bytes.span().subspan(32, size)).error().code,
            ErrorCode::BadArgument);
}

TEST(Packing, NonFiniteWeightsAreRefused) {
  const PackedShape shape{1, 32, WeightType::Int8, 32, Minima::None};
  AlignedBytes bytes(packed_size_bytes(shape));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> weights(32, 1.0f);
    weights[31] = bad;
    EXPECT_EQ(pack(shape, weights, bytes.span()).error().code, ErrorCode::BadArgument);
  }
}

// The layout is a file format: these bytes may never change.
TEST(Packing, LayoutIsTheDocumentedOne) {
  const PackedShape shape{17, 40, WeightType::Int4, 32, Minima::None};
  // 2 blocks; 2 groups of scales (64 bytes) and 64 / 2 * 16 codes a block.
  EXPECT_EQ(packed_size_bytes(shape), 2u * (64u + 512u));
  std::vector<float> weights(17 * 40, 0.0f);
  weights[3 * 40 + 5] =
      -8.0f;  // row 3, column 5: quad 1, byte 1 of its lane; the largest, so its code is 0
  AlignedBytes bytes(packed_size_bytes(shape));
  ASSERT_TRUE(pack(shape, weights, bytes.span()).has_value());
  EXPECT_EQ(bytes.span()[64 + 3 * 4 + 1],
            std::byte{0x08});  // high nibble (quad 1) 0, low nibble (quad 0) centre
  EXPECT_EQ(bytes.span()[64 + 3 * 4 + 0], std::byte{0x88});
  EXPECT_EQ(bytes.span()[2 * 3 + 1], std::byte{0x3C});  // scale of row 3: fp16 1.0 = 0x3C00
}

TEST(Packing, RefusesWeightsThatFp16ScalesCannotHold) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const PackedShape shape{2, 40, c.type, c.group, c.minima};
    std::vector<float> weights(80, 0.01f);
    weights[3] = 1e30f;  // found by fuzz_network: an infinite scale, and NaN as a code
    AlignedBytes bytes(packed_size_bytes(shape));
    const Status packed = pack(shape, weights, bytes.span());
    EXPECT_EQ(packed.has_value(), c.type == WeightType::Fp32);
    weights[3] = 32768.0f;
    weights[4] = -32768.0f;
    ASSERT_TRUE(pack(shape, weights, bytes.span()).has_value());
    std::vector<float> back(weights.size());
    ASSERT_TRUE(unpack(view_packed(shape, bytes.span()).value(), back).has_value());
    for (const float w : back) {
      EXPECT_TRUE(std::isfinite(w));
    }
  }
}

// Codes as a checkpoint holds them come back as the formula says, to the last bit.
TEST(Packing, CodesArePackedAsTheyAre) {
  for (const Case& c : kCases) {
    if (c.type != WeightType::Int4 && c.type != WeightType::Int8) continue;
    SCOPED_TRACE(c.name);
    const std::size_t rows = 19, cols = 256, groups = cols / c.group;
    const PackedShape shape{rows, cols, c.type, c.group, c.minima};
    std::vector<std::uint8_t> codes(rows * cols);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] =
          static_cast<std::uint8_t>(c.type == WeightType::Int4 ? i * 7 % 16 : 1 + i * 7 % 255);
    }
    const bool has_minima = c.minima == Minima::PerGroup;
    std::vector<std::uint16_t> scales(rows * groups), minima(has_minima ? rows * groups : 0);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      scales[i] = fp16_from_float(0.01f * static_cast<float>(i % 9 + 1));
      if (has_minima) minima[i] = fp16_from_float(-0.1f * static_cast<float>(i % 5));
    }
    AlignedBytes bytes(packed_size_bytes(shape));
    ASSERT_TRUE(pack_codes(shape, {scales, minima, codes}, bytes.span()).has_value());
    std::vector<float> back(rows * cols);
    ASSERT_TRUE(unpack(view_packed(shape, bytes.span()).value(), back).has_value());
    for (std::size_t i = 0; i < back.size(); ++i) {
      const std::size_t g = i / cols * groups + i % cols / c.group;
      const float scale = float_from_fp16(scales[g]);
      const int centre = c.type == WeightType::Int4 ? kCentreInt4 : kCentreInt8;
      const float want = has_minima ? float_from_fp16(minima[g]) + scale * codes[i]
                                    : scale * static_cast<float>(codes[i] - centre);
      ASSERT_EQ(back[i], want) << "weight " << i;
    }
  }
}

TEST(Packing, CodesThatNoKernelMayReadAreRefused) {
  const PackedShape shape{1, 32, WeightType::Int8, 32, Minima::None};
  AlignedBytes bytes(packed_size_bytes(shape));
  std::vector<std::uint8_t> codes(32, 128);
  std::vector<std::uint16_t> scales(1, 0x3C00);
  EXPECT_TRUE(pack_codes(shape, {scales, {}, codes}, bytes.span()).has_value());
  codes[9] = 0;
  EXPECT_FALSE(pack_codes(shape, {scales, {}, codes}, bytes.span()).has_value());
  codes[9] = 1;
  for (const std::uint16_t bits : std::initializer_list<std::uint16_t>{0x7C00, 0xFC00, 0x7E00}) {
    scales[0] = bits;
    EXPECT_FALSE(pack_codes(shape, {scales, {}, codes}, bytes.span()).has_value());
  }
  scales[0] = 0x3C00;
  EXPECT_FALSE(pack_codes(shape, {scales, scales, codes}, bytes.span()).has_value());
  EXPECT_FALSE(
      pack_codes({1, 40, WeightType::Int4, 32, Minima::None}, {scales, {}, codes}, bytes.span())
          .has_value());
}

}  // namespace
}  // namespace laya::simd

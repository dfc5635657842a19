#include "format/source_tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/atomic_file.h"
#include "format/checkpoint.h"
#include "format/float_bits.h"
#include "format/test_checkpoints.h"
#include "format/test_encoding.h"

namespace laya::format {
namespace {

std::string golden(const std::string& name) {
  return std::string(LAYA_SOURCE_DIR) + "/testdata/checkpoints/" + name;
}

std::vector<float> floats_of(const std::string& path) {
  const auto text = base::read_file(path, 1 << 20);
  EXPECT_TRUE(text.has_value()) << path;
  std::vector<float> values(text ? text->size() / 4 : 0);
  if (text) std::memcpy(values.data(), text->data(), values.size() * 4);
  return values;
}

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

constexpr SourceType kBlockTypes[] = {SourceType::Q4_0, SourceType::Q4_1, SourceType::Q5_0,
                                      SourceType::Q5_1, SourceType::Q8_0, SourceType::Q4_K,
                                      SourceType::Q5_K, SourceType::Q6_K};

TEST(SourceTensor, DequantisesEveryGgufTypeToTheBitsOfTheGgufPackage) {
  const auto checkpoint = Checkpoint::open(golden("blocks.gguf"));
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  const std::vector<float> expected = floats_of(golden("blocks.f32"));
  ASSERT_EQ(checkpoint->tensors().size(), 10u);
  std::size_t at = 0;
  for (const SourceTensor& tensor : checkpoint->tensors()) {
    ASSERT_LE(at + tensor.elements(), expected.size());
    std::vector<float> values(tensor.elements());
    ASSERT_TRUE(read_rows(tensor, 0, tensor.rows(), values).has_value());
    for (std::size_t i = 0; i < values.size(); ++i, ++at) {
      const bool both_nan = std::isnan(values[i]) && std::isnan(expected[at]);
      ASSERT_TRUE(both_nan || same_bits(values[i], expected[at]))
          << tensor.name << " value " << i << ": " << values[i] << ", want " << expected[at]
          << " (testdata/checkpoints/make_golden.py)";
    }
  }
  EXPECT_EQ(at, expected.size());
}

TEST(SourceTensor, ReadsAnyRangeOfRowsLikeTheWhole) {
  const auto checkpoint = Checkpoint::open(golden("blocks.gguf"));
  ASSERT_TRUE(checkpoint.has_value());
  for (const SourceTensor& tensor : checkpoint->tensors()) {
    SCOPED_TRACE(tensor.name);
    std::vector<float> all(tensor.elements());
    std::vector<float> second(tensor.columns());
    ASSERT_TRUE(read_rows(tensor, 0, 2, all).has_value());
    ASSERT_TRUE(read_rows(tensor, 1, 1, second).has_value());
    EXPECT_EQ(std::memcmp(second.data(), all.data() + tensor.columns(), second.size() * 4), 0);
    ASSERT_TRUE(read_rows(tensor, 2, 0, {}).has_value());
  }
}

// What `laya convert` repacks from: scale · (code − centre) + minimum is the weight, to the bit.
TEST(SourceTensor, GroupsStandForExactlyTheWeights) {
  const auto checkpoint = Checkpoint::open(golden("blocks.gguf"));
  const auto mlx = Checkpoint::open(golden("mlx"));
  ASSERT_TRUE(checkpoint.has_value() && mlx.has_value());
  std::vector<SourceTensor> tensors(checkpoint->tensors().begin(), checkpoint->tensors().end());
  tensors.insert(tensors.end(), mlx->tensors().begin(), mlx->tensors().end());
  int quantised = 0;
  for (const SourceTensor& tensor : tensors) {
    SCOPED_TRACE(tensor.name);
    const auto scheme = group_scheme(tensor);
    std::vector<std::uint8_t> codes(tensor.columns());
    if (!scheme) {
      EXPECT_FALSE(read_groups(tensor, 0, codes, {}, {}).has_value());
      continue;
    }
    ++quantised;
    std::vector<float> scales(tensor.columns() / scheme->group);
    std::vector<float> minima(scheme->has_minima ? scales.size() : 0);
    std::vector<float> values(tensor.columns());
    for (std::uint64_t row = 0; row < tensor.rows(); ++row) {
      ASSERT_TRUE(read_groups(tensor, row, codes, scales, minima).has_value());
      ASSERT_TRUE(read_rows(tensor, row, 1, values).has_value());
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_LT(codes[i], 1u << scheme->bits);
        const int code = codes[i] - static_cast<int>(scheme->centre);
        volatile float weight = scales[i / scheme->group] * static_cast<float>(code);
        if (scheme->has_minima) weight = weight + minima[i / scheme->group];
        ASSERT_TRUE(same_bits(weight, values[i])) << "row " << row << ", column " << i;
      }
    }
  }
  EXPECT_EQ(quantised, 8 + 2);
}

TEST(SourceTensor, EncodersOfTestsComeBackCloseForEveryType) {
  for (const SourceType type : kBlockTypes) {
    SCOPED_TRACE(source_type_name(type));
    const TestTensor made = test_tensor("w", {3, 256}, type, 1.0f);
    const std::string bytes = encode(type, made.values);
    const SourceTensor tensor{
        "w", type, made.shape, std::as_bytes(std::span(bytes)), 0, 0, SourceType::F32, {}, {}};
    std::vector<float> values(tensor.elements());
    ASSERT_TRUE(read_rows(tensor, 0, 3, values).has_value());
    const float step = 2.2f / static_cast<float>(1 << group_scheme(tensor)->bits);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], made.values[i], step) << i;
    }
  }
}

TEST(SourceTensor, ConvertsEveryHalfAndEveryBfloatExactly) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    const float value = float_from_half(half);
    EXPECT_EQ(std::signbit(value), bits >= 32768);
    if (exponent == 31) {
      EXPECT_EQ(std::isinf(value), fraction == 0);
      EXPECT_EQ(std::isnan(value), fraction != 0);
    } else {
      const double want =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ(std::fabs(value), want) << bits;
      ASSERT_EQ(half_from_float(value), half);  // the tests' own encoder
    }
    EXPECT_EQ(std::bit_cast<std::uint32_t>(float_from_bfloat(half)), bits << 16);
  }
}

TEST(SourceTensor, ReadsFromUnalignedBytes) {
  const TestTensor made = test_tensor("w", {2, 64});
  for (const SourceType type :
       {SourceType::F32, SourceType::F16, SourceType::BF16, SourceType::Q4_1, SourceType::Q8_0}) {
    const std::string bytes = encode(type, made.values);
    const std::string shifted = "x" + bytes;
    SourceTensor tensor{"w", type, {2, 64}, std::as_bytes(std::span(bytes)), 0, 0, SourceType::F32,
                        {},  {}};
    std::vector<float> aligned(128);
    std::vector<float> unaligned(128);
    ASSERT_TRUE(read_rows(tensor, 0, 2, aligned).has_value());
    tensor.bytes = std::as_bytes(std::span(shifted)).subspan(1);
    ASSERT_TRUE(read_rows(tensor, 0, 2, unaligned).has_value());
    EXPECT_EQ(aligned, unaligned);
  }
}

TEST(SourceTensor, RefusesRangesSpacesAndBytesThatDoNotFit) {
  const std::string bytes = encode(SourceType::Q4_0, test_tensor("w", {2, 32}).values);
  SourceTensor tensor{"some.weight",
                      SourceType::Q4_0,
                      {2, 32},
                      std::as_bytes(std::span(bytes)),
                      0,
                      0,
                      SourceType::F32,
                      {},
                      {}};
  std::vector<float> row(32);
  std::vector<std::uint8_t> codes(32);
  std::vector<float> one(1);
  EXPECT_TRUE(read_rows(tensor, 1, 1, row).has_value());
  EXPECT_FALSE(read_rows(tensor, 2, 1, row).has_value());
  EXPECT_FALSE(read_rows(tensor, ~std::uint64_t{0}, 2, row).has_value());
  EXPECT_FALSE(read_rows(tensor, 0, 2, row).has_value());
  EXPECT_TRUE(read_groups(tensor, 1, codes, one, {}).has_value());
  EXPECT_FALSE(read_groups(tensor, 2, codes, one, {}).has_value());
  EXPECT_FALSE(read_groups(tensor, 0, codes, one, one).has_value());
  EXPECT_FALSE(read_groups(tensor, 0, codes, row, {}).has_value());
  tensor.bytes = tensor.bytes.first(tensor.bytes.size() - 1);
  const Status cut = read_rows(tensor, 0, 1, row);
  ASSERT_FALSE(cut.has_value());
  EXPECT_NE(cut.error().message.find("some.weight"), std::string::npos);
  tensor.shape = {2, 33};
  EXPECT_FALSE(read_rows(tensor, 0, 1, row).has_value());
  tensor.type = SourceType::I32;
  tensor.shape = {9};
  EXPECT_EQ(read_rows(tensor, 0, 0, {}).error().code, ErrorCode::BadArgument);
  tensor.bytes = std::as_bytes(std::span(bytes)).first(36);
  EXPECT_EQ(read_rows(tensor, 0, 1, std::span(row).first(9)).error().code, ErrorCode::Unsupported);
}

TEST(SourceTensor, QuotesWhatATerminalMustNotSee) {
  EXPECT_EQ(in_quotes("a.b"), "\"a.b\"");
  EXPECT_EQ(in_quotes("a\x1B[0m\"\n"), "\"a\\x1B[0m\\x22\\x0A\"");
  EXPECT_LT(in_quotes(std::string(5000, 'a')).size(), 100u);
}

}  // namespace
}  // namespace laya::format

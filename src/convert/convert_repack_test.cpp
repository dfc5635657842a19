#include "convert/convert_repack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/test_folder.h"
#include "convert/convert_quantise.h"
#include "convert/convert_source.h"
#include "format/checkpoint.h"
#include "format/gguf_file.h"
#include "format/test_checkpoints.h"
#include "simd/packing.h"

namespace laya::convert {
namespace {

using format::SourceTensor;
using format::SourceType;
using model::Precision;
using simd::Minima;
using simd::WeightType;

std::vector<std::uint32_t> all_rows(const SourceTensor& tensor) {
  std::vector<std::uint32_t> rows(tensor.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

std::vector<float> unpacked(const model::AlignedBytes& bytes, const Precision& precision,
                            std::size_t rows, std::size_t cols) {
  const auto view = simd::view_packed(
      {rows, cols, precision.type, precision.group, precision.minima}, bytes.bytes());
  EXPECT_TRUE(view) << view.error().message;
  std::vector<float> out(rows * cols);
  EXPECT_TRUE(simd::unpack(*view, out));
  return out;
}

struct Case {
  SourceType type;
  const char* precision;
  double worst;  ///< of the largest weight; 0: the same bits
};

// fp16 rounds products of two 6- or 16-bit numbers to 11 bits: 2^-12 of the scale or minimum, which
// code 15 or 31 multiplies.
constexpr Case kCases[] = {
    {SourceType::Q4_0, "int4/32", 0},       {SourceType::Q4_1, "int4/32m", 0},
    {SourceType::Q5_0, "int8/32", 0},       {SourceType::Q5_1, "int8/32m", 1.5e-3},
    {SourceType::Q8_0, "int8/32", 0},       {SourceType::Q4_K, "int4/32m", 1.5e-3},
    {SourceType::Q5_K, "int8/32m", 1.5e-3},
};

TEST(Repack, KeepsTheGroupsOfEveryGgufType) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(format::source_type_name(c.type));
    const std::string bytes = format::gguf_bytes(
        {{"general.architecture", std::string("x")}},
        std::vector<format::TestTensor>{format::test_tensor("w", {37, 512}, c.type, 0.4F)});
    const auto file =
        format::GgufFile::parse(std::as_bytes(std::span(bytes.data(), bytes.size())), "test");
    ASSERT_TRUE(file) << file.error().message;
    const SourceTensor& tensor = *file->find_tensor("w");
    const auto precision = exact_precision(tensor);
    ASSERT_TRUE(precision);
    EXPECT_EQ(model::precision_text(*precision), c.precision);
    RepackLoss loss;
    const auto packed = repack(tensor, all_rows(tensor), *precision, loss);
    ASSERT_TRUE(packed) << packed.error().message;
    std::vector<float> want(37 * 512);
    ASSERT_TRUE(format::read_rows(tensor, 0, 37, want));
    const std::vector<float> got = unpacked(*packed, *precision, 37, 512);
    float largest = 0;
    for (const float w : want) largest = std::max(largest, std::abs(w));
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (c.worst == 0) {
        ASSERT_EQ(got[i], want[i]) << i;
      } else {
        ASSERT_NEAR(got[i], want[i], c.worst * largest) << i;
      }
    }
    EXPECT_EQ(loss.clamped, 0u);
    EXPECT_LT(loss.relative(), c.worst == 0 ? 1e-7 : 1.5e-3);
  }
}

TEST(Repack, TakesRowsInAnyOrder) {
  const std::string bytes = format::gguf_bytes(
      {{"general.architecture", std::string("x")}},
      std::vector<format::TestTensor>{format::test_tensor("w", {40, 64}, SourceType::Q4_1)});
  const auto file =
      format::GgufFile::parse(std::as_bytes(std::span(bytes.data(), bytes.size())), "test");
  ASSERT_TRUE(file);
  const SourceTensor& tensor = *file->find_tensor("w");
  const Precision precision = *exact_precision(tensor);
  const std::vector<std::uint32_t> rows = {39, 0, 5, 5, 17, 1,  2,  3,  4,
                                           6,  7, 8, 9, 10, 11, 12, 13, 38};
  RepackLoss loss;
  const auto packed = repack(tensor, rows, precision, loss);
  ASSERT_TRUE(packed);
  const std::vector<float> got = unpacked(*packed, precision, rows.size(), 64);
  std::vector<float> want(64);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    ASSERT_TRUE(format::read_rows(tensor, rows[r], 1, want));
    for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(got[r * 64 + i], want[i]) << r << " " << i;
  }
  const std::vector<std::uint32_t> outside = {40};
  EXPECT_FALSE(repack(tensor, outside, precision, loss));
}

TEST(Repack, EightBitMlxGroupsMoveAtMostOneCode) {
  base::TestFolder folder;
  format::TestTensor tensor = format::test_tensor("w.weight", {16, 128}, SourceType::MlxAffine, 1);
  tensor.bits = 8;
  tensor.group = 64;
  ASSERT_TRUE(format::write_safetensors_folder(
      folder.path().string(), std::vector<format::TestTensor>{tensor},
      R"({"model_type": "llama", "quantization": {"group_size": 64, "bits": 8}})"));
  const auto checkpoint = format::Checkpoint::open(folder.path().string());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const SourceTensor& source = *checkpoint->find("w.weight");
  const Precision precision = *exact_precision(source);
  EXPECT_EQ(model::precision_text(precision), "int8/64m");
  RepackLoss loss;
  const auto packed = repack(source, all_rows(source), precision, loss);
  ASSERT_TRUE(packed) << packed.error().message;
  std::vector<float> want(16 * 128);
  ASSERT_TRUE(format::read_rows(source, 0, 16, want));
  const std::vector<float> got = unpacked(*packed, precision, 16, 128);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 1.2 * 2.0 / 255);  // a step: range 2 over 255 codes
    moved += std::abs(got[i] - want[i]) > 0.6 * 2.0 / 255 ? 1 : 0;
  }
  EXPECT_LE(moved, loss.clamped);
  EXPECT_LE(loss.clamped, 2u * 16 * 2);  // about one a group
}

TEST(Repack, Q6KGoesThroughFloats) {
  const std::string bytes = format::gguf_bytes(
      {{"general.architecture", std::string("x")}},
      std::vector<format::TestTensor>{format::test_tensor("w", {3, 256}, SourceType::Q6_K)});
  const auto file =
      format::GgufFile::parse(std::as_bytes(std::span(bytes.data(), bytes.size())), "test");
  ASSERT_TRUE(file);
  const SourceTensor& tensor = *file->find_tensor("w");
  EXPECT_FALSE(exact_precision(tensor));
  RepackLoss loss;
  ASSERT_TRUE(repack(tensor, all_rows(tensor), {WeightType::Int8, 32, Minima::None}, loss));
  EXPECT_LT(loss.relative(), 0.01);
}

TEST(InterleavedRows, AreHalvesWovenTogether) {
  // One head of 6: rows 0 1 2 | 3 4 5 are kept as 0 3 1 4 2 5, so our row 1 is the source's row 2.
  const std::uint32_t want[] = {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
  for (std::uint32_t row = 0; row < 12; ++row) EXPECT_EQ(interleaved_row(row, 6), want[row]);
}

// Rounding for the inputs must beat rounding for the weights where inputs are correlated, and must
// give back exactly what was packed.
TEST(QuantiseFor, LosesLessOfTheOutputThanRounding) {
  const std::size_t tokens = 400, cols = 64, rows = 24;
  std::vector<float> inputs(tokens * cols);
  const auto noise = format::test_tensor("noise", {tokens, cols}, SourceType::F32, 1).values;
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t j = 0; j < cols; ++j) {  // neighbours go together; some are loud
      const float shared = noise[t * cols + j / 4 * 4];
      inputs[t * cols + j] = (shared + 0.3F * noise[t * cols + j]) * (j % 8 == 0 ? 5.0F : 1.0F);
    }
  }
  for (const Minima minima : {Minima::PerGroup, Minima::None}) {
    const Precision precision{WeightType::Int4, 32, minima};
    const auto weights = format::test_tensor("w", {rows, cols}, SourceType::F32, 0.3F).values;
    simd::ThreadPool pool(2);
    const InputMoments moments(inputs, cols, pool);
    std::vector<float> ours = weights;
    const auto packed = quantise_for(moments, precision, rows, ours, pool);
    ASSERT_TRUE(packed) << packed.error().message;
    EXPECT_EQ(unpacked(*packed, precision, rows, cols), ours);

    const simd::PackedShape shape{rows, cols, precision.type, precision.group, precision.minima};
    model::AlignedBytes plain(simd::packed_size_bytes(shape));
    ASSERT_TRUE(simd::pack(shape, weights, plain.bytes()));
    const std::vector<float> rounded = unpacked(plain, precision, rows, cols);
    const auto output_loss = [&](const std::vector<float>& is) {
      double total = 0;
      for (std::size_t t = 0; t < tokens; ++t) {
        for (std::size_t r = 0; r < rows; ++r) {
          double off = 0;
          for (std::size_t j = 0; j < cols; ++j) {
            off += inputs[t * cols + j] *
                   (static_cast<double>(is[r * cols + j]) - weights[r * cols + j]);
          }
          total += off * off;
        }
      }
      return total;
    };
    EXPECT_LT(output_loss(ours), 0.6 * output_loss(rounded));
  }
}

}  // namespace
}  // namespace laya::convert

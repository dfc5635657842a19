#include "train/gru/start_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/atomic_file.h"
#include "model/gru/quantize.h"
#include "train/gru/run_checkpoint.h"
#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

const std::vector<std::byte>& vocabulary() {
  static const std::vector<std::byte> kBlob = small_vocabulary().serialize();
  return kBlob;
}

GruParameters random_parameters() {
  model::GruConfig config{0, 16, 32, 2, 2, 16, 3, 1e-5F};
  config.vocabulary_size = static_cast<std::uint32_t>(small_vocabulary().size());
  GruParameters parameters(config);
  parameters.initialise(7, {});
  return parameters;
}

/// fp32, as a run writes it.
std::string write_float_model(const base::TestFolder& folder, const GruParameters& parameters) {
  const std::string path = folder.file("float.laya");
  const Status status = export_model(parameters, {vocabulary(), "CC0-1.0", "{}"}, path);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return path;
}

float largest(std::span<const float> numbers) {
  float most = 0;
  for (const float number : numbers) most = std::max(most, std::fabs(number));
  return most;
}

TEST(StartWeights, FloatsAreReadBackExactlyAndMomentsAreZero) {
  const base::TestFolder folder;
  const GruParameters written = random_parameters();
  const auto read = read_start_weights(write_float_model(folder, written), vocabulary());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->config(), written.config());
  ASSERT_EQ(read->tensors().size(), written.tensors().size());
  for (std::size_t i = 0; i < read->tensors().size(); ++i) {
    const Parameter& tensor = read->tensors()[i];
    EXPECT_EQ(tensor.value, written.tensors()[i].value) << tensor.name;
    EXPECT_EQ(largest(tensor.first_moment), 0) << tensor.name;
    EXPECT_EQ(largest(tensor.second_moment), 0) << tensor.name;
  }
}

// What the quantiser rotates (the embedding and its projections) is another model of the same
// function; the trainer's test compares what that computes.
TEST(StartWeights, QuantisedOnesAreReadBackWithinAStep) {
  const base::TestFolder folder;
  const GruParameters written = random_parameters();
  const std::string packed = folder.file("int8.laya");
  const auto file =
      format::ModelFile::open(write_float_model(folder, written), format::Verify::Full);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_TRUE(model::quantize_file(*file, packed, {}).has_value());
  const auto read = read_start_weights(packed, vocabulary());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  std::size_t packed_tensors = 0;
  for (std::size_t i = 0; i < read->tensors().size(); ++i) {
    const Parameter& tensor = read->tensors()[i];
    if (!tensor.name.starts_with("layers.")) continue;
    const std::vector<float>& meant = written.tensors()[i].value;
    const float step = largest(meant) / 127;
    float worst = 0;
    for (std::size_t n = 0; n < meant.size(); ++n) {
      worst = std::max(worst, std::fabs(tensor.value[n] - meant[n]));
    }
    EXPECT_LE(worst, step) << tensor.name;
    packed_tensors += worst > 0 ? 1 : 0;
  }
  EXPECT_EQ(packed_tensors, 8u) << "w_ih, w_hh, w_qkv and w_o of two layers";
}

TEST(StartWeights, AnotherVocabularyIsRefused) {
  const base::TestFolder folder;
  const std::string path = write_float_model(folder, random_parameters());
  std::vector<std::byte> other = vocabulary();
  other.back() ^= std::byte{1};
  const auto read = read_start_weights(path, other);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::BadArgument);
  EXPECT_TRUE(read.error().message.starts_with(path)) << read.error().message;
  EXPECT_NE(read.error().message.find("--vocabulary"), std::string::npos) << read.error().message;
}

TEST(StartWeights, ACutOrMissingFileIsRefused) {
  const base::TestFolder folder;
  const std::string path = write_float_model(folder, random_parameters());
  const std::string whole = base::read_file(path, 1U << 24).value();
  const std::string cut = folder.file("cut.laya");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{64}, whole.size() / 2, whole.size() - 1}) {
    write_text(cut, std::string_view(whole).substr(0, size));
    const auto read = read_start_weights(cut, vocabulary());
    ASSERT_FALSE(read.has_value()) << size << " bytes";
    EXPECT_NE(read.error().message.find("cut.laya"), std::string::npos) << read.error().message;
  }
  EXPECT_FALSE(read_start_weights(folder.file("none.laya"), vocabulary()).has_value());
}

}  // namespace
}  // namespace laya::train

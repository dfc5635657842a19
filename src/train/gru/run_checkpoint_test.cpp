#include "train/gru/run_checkpoint.h"

#include <gtest/gtest.h>

#include "format/model_file.h"
#include "model/backends/reference.h"
#include "model/gru/model_loading.h"
#include "train/gru/test_texts.h"
#include "train/text/random.h"

namespace laya::train {
namespace {

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() : vocabulary_(small_vocabulary()), blob_(vocabulary_.serialize()) {}

  RunCheckpoint sample(std::uint64_t tokens) {
    TrainOptions options;
    options.run_dir = folder_.file("run");
    options.lanes = 3;
    options.config = {static_cast<std::uint32_t>(vocabulary_.size()), 16, 32, 2, 2, 16, 3, 1e-5F};
    RunCheckpoint checkpoint{
        options, {}, {}, {}, GruCarry::zero(options.config, 3), GruParameters(options.config)};
    checkpoint.parameters.initialise(5, {});
    Random random(tokens);
    for (Parameter& tensor : checkpoint.parameters.tensors()) {
      for (float& value : tensor.first_moment) value = static_cast<float>(random.uniform());
      for (float& value : tensor.second_moment) value = static_cast<float>(random.uniform());
    }
    for (GruCarry::Layer& layer : checkpoint.carry.layers) {
      for (float& value : layer.hidden) value = static_cast<float>(random.uniform());
      for (float& value : layer.past_kv) value = static_cast<float>(random.uniform());
      layer.history = {0, 1, 2};
    }
    checkpoint.progress = {tokens, 7, 0.125, 12.5, 3.25, 2, 99, {{5, 4.5}, {6, 3.25}}};
    checkpoint.position = {0xFFFFFFFFFFFFFFFF, {{1, 2, 3, 4, 1, 1}, {}, {}}, {{5, 6, 7}}};
    checkpoint.sources = {{"en_small", 0xFEDCBA9876543210}};
    return checkpoint;
  }
  ModelRecord record() const { return {blob_, "CC0", R"({"tokens": 5})"}; }

  base::TestFolder folder_;
  text::Vocabulary vocabulary_;
  std::vector<std::byte> blob_;
};

TEST_F(CheckpointTest, HoldsEverythingBitForBit) {
  const RunCheckpoint saved = sample(1000);
  const auto path = save_checkpoint(saved, record());
  ASSERT_TRUE(path.has_value()) << path.error().message;
  const Result<RunCheckpoint> read = load_checkpoint(*path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(options_to_json(read->options), options_to_json(saved.options));
  EXPECT_EQ(read->position, saved.position);
  EXPECT_EQ(read->progress.tokens, 1000u);
  EXPECT_EQ(read->progress.step, 7u);
  EXPECT_EQ(read->progress.progress, 0.125);
  EXPECT_EQ(read->progress.best_dev, 3.25);
  EXPECT_EQ(read->progress.evals_since_best, 2u);
  EXPECT_EQ(read->progress.next_eval, 99u);
  ASSERT_EQ(read->progress.curve.size(), 2u);
  EXPECT_EQ(read->progress.curve[1].bits_per_character, 3.25);
  ASSERT_EQ(read->sources.size(), 1u);
  EXPECT_EQ(read->sources[0].checksum, saved.sources[0].checksum);
  for (std::size_t i = 0; i < saved.parameters.tensors().size(); ++i) {
    const Parameter& want = saved.parameters.tensors()[i];
    const Parameter& got = read->parameters.tensors()[i];
    EXPECT_EQ(got.name, want.name);
    EXPECT_EQ(got.value, want.value) << want.name;
    EXPECT_EQ(got.first_moment, want.first_moment) << want.name;
    EXPECT_EQ(got.second_moment, want.second_moment) << want.name;
  }
  for (std::size_t l = 0; l < 2; ++l) {
    EXPECT_EQ(read->carry.layers[l].hidden, saved.carry.layers[l].hidden);
    EXPECT_EQ(read->carry.layers[l].past_kv, saved.carry.layers[l].past_kv);
    EXPECT_EQ(read->carry.layers[l].history, saved.carry.layers[l].history);
  }
}

TEST_F(CheckpointTest, KeepsTheLastTwo) {
  for (std::uint64_t tokens : {900, 1000, 12000})
    ASSERT_TRUE(save_checkpoint(sample(tokens), record()).has_value());
  const auto left = list_checkpoints(folder_.file("run"));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].filename(), "checkpoint-000000012000.laya");
  EXPECT_EQ(left[1].filename(), "checkpoint-000000001000.laya");
}

TEST_F(CheckpointTest, DamagedNewestIsPassedOver) {
  ASSERT_TRUE(save_checkpoint(sample(1000), record()).has_value());
  const auto newest = save_checkpoint(sample(2000), record()).value();
  std::string bytes = base::read_file(newest.string(), 1 << 24).value();
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  write_text(newest, bytes);
  EXPECT_FALSE(load_checkpoint(newest).has_value());
  const Result<RunCheckpoint> read = load_newest_checkpoint(folder_.file("run"));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->progress.tokens, 1000u);
  const Result<RunCheckpoint> none = load_newest_checkpoint(folder_.file("elsewhere"));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::Io);
}

TEST_F(CheckpointTest, ExportIsAModelAndNoCheckpoint) {
  const RunCheckpoint saved = sample(1000);
  const auto path = save_checkpoint(saved, record()).value();
  const std::string exported = folder_.file("model.laya");
  const Status status = export_checkpoint(path, exported);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  const Result<RunCheckpoint> refused = load_checkpoint(exported);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::BadArgument);

  const format::ModelFile file = format::ModelFile::open(exported, format::Verify::Full).value();
  EXPECT_FALSE(file.has("adam.first.embedding.weight"));
  EXPECT_NE(file.metadata_json().find("CC0"), std::string_view::npos);
  EXPECT_TRUE(text::Vocabulary::parse(file.blob("vocabulary").value()).has_value());
  const auto model = model::load_language_model(file, model::reference_backend());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->config(), saved.options.config);
}

TEST(GruParameters, StartIsAFunctionOfTheSeed) {
  const model::GruConfig config{270, 16, 32, 2, 2, 16, 3, 1e-5F};
  GruParameters one(config), two(config), other(config);
  one.initialise(1, {});
  two.initialise(1, {});
  other.initialise(2, {});
  EXPECT_EQ(one.count(), config.parameter_count());
  for (std::size_t i = 0; i < one.tensors().size(); ++i)
    EXPECT_EQ(one.tensors()[i].value, two.tensors()[i].value);
  EXPECT_NE(one.tensors()[one.index().embedding].value,
            other.tensors()[other.index().embedding].value);
}

}  // namespace
}  // namespace laya::train

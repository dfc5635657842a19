#include "model/decision/decision_config.h"

#include <gtest/gtest.h>

#include "format/metadata.h"
#include "format/model_writer.h"
#include "model/decision/decision_test_models.h"

namespace laya::model {
namespace {

TEST(DecisionConfig, ComesBackFromAFileAsItWas) {
  for (const DecisionKind kind : kDecisionKinds) {
    const StoredDecision stored(kind, "int8/32");
    const auto file = format::ModelFile::open(stored.path);
    ASSERT_TRUE(file);
    EXPECT_TRUE(is_decision_model(*file));
    const auto config = read_decision_config(*file);
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(*config, stored.config);
    EXPECT_EQ(decision_config_json(*config), decision_config_json(stored.config));
  }
}

TEST(DecisionConfig, CountsWhatIsTrained) {
  // 3 × 19 + 19, 19 × 7 + 7, 7 + 3 + 1
  EXPECT_EQ(tiny_decision_config(DecisionKind::Ranker).parameter_count(), 227U);
}

TEST(DecisionConfig, RefusesWhatIsBeyondItsLimits) {
  struct Case {
    DecisionKind kind;
    void (*spoil)(DecisionConfig&);
    const char* word;
  };
  const Case cases[] = {
      {DecisionKind::Ranker, [](DecisionConfig& c) { c.features.clear(); }, "features"},
      {DecisionKind::Ranker, [](DecisionConfig& c) { c.features[1] = c.features[0]; }, "log_prob"},
      {DecisionKind::Ranker, [](DecisionConfig& c) { c.features[1] = "a b"; }, "blank"},
      {DecisionKind::Ranker, [](DecisionConfig& c) { c.features[1] = ""; }, "name"},
      {DecisionKind::Ranker, [](DecisionConfig& c) { c.hidden.clear(); }, "hidden"},
      {DecisionKind::Ranker, [](DecisionConfig& c) { c.hidden[0] = 5000; }, "5000"},
      {DecisionKind::WindowedMlp, [](DecisionConfig& c) { c.window = 0; }, "window"},
      {DecisionKind::WindowedMlp, [](DecisionConfig& c) { c.window = 65; }, "window"},
      {DecisionKind::WindowedMlp, [](DecisionConfig& c) { c.actions = 1; }, "actions"},
      {DecisionKind::WindowedMlp, [](DecisionConfig& c) { c.vocabulary_size = 0; }, "vocabulary"},
      {DecisionKind::Transformer, [](DecisionConfig& c) { c.layers = 5; }, "layers"},
      {DecisionKind::Transformer, [](DecisionConfig& c) { c.head_dim = 24; }, "multiple of 16"},
      {DecisionKind::Transformer, [](DecisionConfig& c) { c.norm_eps = 0.0F; }, "norm_eps"},
  };
  for (const Case& c : cases) {
    DecisionConfig config = tiny_decision_config(c.kind);
    ASSERT_TRUE(config.validate());
    c.spoil(config);
    const Status status = config.validate();
    ASSERT_FALSE(status) << c.word;
    EXPECT_NE(status.error().message.find(c.word), std::string::npos) << status.error().message;
  }
}

/// What reading says of a file whose configuration is `config`.
Result<DecisionConfig> read_from(const std::string& config, const char* architecture = "decision") {
  const base::TestFolder folder;
  auto writer = format::ModelWriter::create(folder.file("m"));
  EXPECT_TRUE(writer->set_metadata("{\"architecture\":\"" + std::string(architecture) +
                                   "\",\"config\":" + config + "}"));
  EXPECT_TRUE(writer->finish());
  return read_decision_config(*format::ModelFile::open(folder.file("m")));
}

TEST(DecisionConfig, NamesTheFieldOfTheFileThatIsWrong) {
  const auto code = [](const Result<DecisionConfig>& read) {
    return read ? ErrorCode::Internal : read.error().code;
  };
  EXPECT_EQ(code(read_from("{}", "gru-local")), ErrorCode::Unsupported);
  EXPECT_EQ(code(read_from("{}")), ErrorCode::Corrupt);
  EXPECT_EQ(code(read_from(R"({"kind":"oracle"})")), ErrorCode::Unsupported);
  for (
      const char* config :
      {R"({"kind":"mlp_ranker"})", R"({"kind":"mlp_ranker","features":[1],"hidden":[4]})",
       R"({"kind":"mlp_ranker","features":["a","a"],"hidden":[4]})",
       R"({"kind":"mlp_ranker","features":["a"],"hidden":[-4]})",
       R"({"kind":"mlp_ranker","features":["a"],"hidden":[1,1,1,1,1]})",
       R"({"kind":"windowed_mlp","vocabulary_size":3,"actions":2,"window":65,"embedding_dim":1})"}) {
    const auto read = read_from(config);
    EXPECT_EQ(code(read), ErrorCode::Corrupt) << config;
  }
}

TEST(DecisionQuantize, MakesItSmallerAndSaysHow) {
  const StoredDecision stored(DecisionKind::Transformer, "int4/32");
  const auto file = format::ModelFile::open(stored.path);
  const auto metadata = format::metadata(*file);
  EXPECT_EQ((*metadata)["quantization"]["layers.0.attn.w_q"], "int4/32");
  EXPECT_FALSE((*metadata)["quantization"].contains("final_norm.weight"));
  QuantizeRecipe recipe;
  const Status twice = quantize_decision_file(*file, stored.folder.file("x"), recipe);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("quantised already"), std::string::npos);
  recipe.exceptions["nothing"] = {};
  const StoredDecision exact(DecisionKind::Ranker, "fp32");
  const Status unknown =
      quantize_decision_file(*format::ModelFile::open(exact.path), stored.folder.file("x"), recipe);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("hidden.0.weight"), std::string::npos);
}

}  // namespace
}  // namespace laya::model

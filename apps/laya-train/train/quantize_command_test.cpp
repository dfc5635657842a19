#include "laya-train/train/quantize_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/atomic_file.h"
#include "common/test_run.h"
#include "format/model_file.h"
#include "format/model_writer.h"
#include "model/backends/cpu.h"
#include "model/bench/random_model.h"
#include "model/gru/model_loading.h"

namespace laya::apps {
namespace {

namespace fs = std::filesystem;

/// A small random network behind the shipped vocabulary, and a text to measure it on.
class QuantizeCommand : public testing::Test {
 protected:
  void SetUp() override {
    model::GruConfig config = model::tiny_gru_config();
    config.vocabulary_size = 16384;
    config.embedding_dim = 16;
    std::ifstream in(std::string(LAYA_SOURCE_DIR) + "/models/instant/vocabulary.bin",
                     std::ios::binary);
    std::stringstream vocabulary;
    vocabulary << in.rdbuf();
    const std::string blob = vocabulary.str();
    const model::OwnedFloatWeights weights = model::random_weights(config, 4);
    auto writer = format::ModelWriter::create(path("exact.laya"));
    ASSERT_TRUE(writer) << writer.error().message;
    for (const model::TensorSpec& spec : model::tensor_specs(config)) {
      ASSERT_TRUE(writer->add_f32(spec.name, spec.shape,
                                  model::tensor_numbers(config, weights.weights, spec.name)));
    }
    ASSERT_TRUE(writer->add_blob("vocabulary", std::as_bytes(std::span(blob))));
    ASSERT_TRUE(writer->set_metadata(
        "{\"architecture\":\"gru-local\",\"config\":" + model::config_json(config) + "}"));
    ASSERT_TRUE(writer->finish());
    std::string text;
    for (int i = 0; i < 40; ++i) {
      text +=
          "see you at " + std::to_string(i) + " o'clock\n我们明天" + std::to_string(i) + "点见\n\n";
    }
    ASSERT_TRUE(base::write_file(path("text.txt"), text));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// `laya quantize <arguments>`.
  static Answer run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "quantize");
    return run_command(add_quantize_command, std::move(arguments));
  }

 private:
  fs::path folder_ = [] {
    std::string name = (fs::temp_directory_path() / "laya-quantize-XXXXXX").string();
    return fs::path(mkdtemp(name.data()));
  }();
};

TEST_F(QuantizeCommand, WritesASmallerModelThatRuns) {
  const Answer answer = run({path("exact.laya"), path("small.laya"), "--bits", "4", "--group", "32",
                             "--keep", "out_proj.weight=fp16"});
  EXPECT_EQ(answer.exit_code, kOk) << answer.err;
  EXPECT_NE(answer.out.find("int4/32"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("out_proj.weight stays fp16"), std::string::npos) << answer.out;
  EXPECT_LT(fs::file_size(path("small.laya")), fs::file_size(path("exact.laya")));
  const auto file = format::ModelFile::open(path("small.laya"));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->has("vocabulary"));
  EXPECT_TRUE(model::load_language_model(*file, model::cpu_backend()));
}

TEST_F(QuantizeCommand, SaysWhatItCostsAndWhatSpoilsIt) {
  const Answer answer = run({path("exact.laya"), path("small.laya"), "--bits", "4", "--text",
                             path("text.txt"), "--json"});
  ASSERT_EQ(answer.exit_code, kOk) << answer.err;
  const auto report = nlohmann::json::parse(answer.out);
  EXPECT_GT(report["bits_per_character"]["quantised"].get<double>(), 1.0);
  EXPECT_GT(report["contexts"].get<int>(), 100);
  // A random network has no clear favourites, so four bits spoil its order; the matrices are named,
  // worst first.
  EXPECT_LT(report["overlap"].get<double>(), 0.98);
  ASSERT_EQ(report["sensitivity"].size(), 11U);
  EXPECT_LE(report["sensitivity"][0]["overlap"].get<double>(),
            report["sensitivity"][10]["overlap"].get<double>());
  const Answer text =
      run({path("exact.laya"), path("small.laya"), "--bits", "4", "--text", path("text.txt")});
  EXPECT_NE(text.out.find("spoils most; --keep"), std::string::npos) << text.out;
}

TEST_F(QuantizeCommand, KeepsMoreBitsUntilTheTargetIsMet) {
  const Answer answer = run({path("exact.laya"), path("small.laya"), "--bits", "4", "--text",
                             path("text.txt"), "--auto", "--target", "0.9", "--json"});
  ASSERT_EQ(answer.exit_code, kOk) << answer.err;
  const auto report = nlohmann::json::parse(answer.out);
  EXPECT_GE(report["overlap"].get<double>(), 0.9);
  EXPECT_FALSE(report["raised"].empty());
  const std::string first = report["raised"][0];
  const auto written =
      nlohmann::json::parse(format::ModelFile::open(path("small.laya"))->metadata_json());
  EXPECT_NE(written["quantization"][first], "int4/64");
  EXPECT_EQ(written["quantization_measured"]["overlap"], report["overlap"]);
}

TEST_F(QuantizeCommand, RefusesWhatItCannotDo) {
  const std::string in = path("exact.laya"), out = path("small.laya");
  struct Case {
    const char* name;
    std::vector<std::string> arguments;
    int exit_code;
    const char* word;
  };
  const Case cases[] = {
      {"bits", {in, out, "--bits", "5"}, kUsage, ""},
      {"group", {in, out, "--group", "16"}, kUsage, ""},
      {"no such tensor", {in, out, "--keep", "nothing=fp16"}, kUsage, "nothing"},
      {"no such precision", {in, out, "--keep", "in_proj.weight=int3"}, kUsage, "int3"},
      {"not an assignment", {in, out, "--keep", "in_proj.weight"}, kUsage, "--keep"},
      {"nothing to measure on", {in, out, "--auto"}, kUsage, "--text"},
      {"no such model", {path("none.laya"), out}, kFailed, "none.laya"},
      {"no model at all", {path("text.txt"), out}, kFailed, "text.txt"},
      {"no such text", {in, out, "--text", path("none.txt")}, kFailed, "none.txt"},
      {"no such folder", {in, path("nowhere/small.laya")}, kFailed, "nowhere"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Answer answer = run(c.arguments);
    EXPECT_EQ(answer.exit_code, c.exit_code) << answer.err;
    EXPECT_NE(answer.err.find(c.word), std::string::npos) << answer.err;
    EXPECT_FALSE(fs::exists(out));
  }
}

}  // namespace
}  // namespace laya::apps

#include "laya/models/convert_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "common/test_run.h"
#include "convert/convert_test_models.h"
#include "format/model_file.h"

namespace laya::apps {
namespace {

Answer run(std::vector<std::string> arguments) {
  return run_command(add_convert_command, std::move(arguments));
}

class ConvertCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto model = convert::tiny_model(model::DecoderFamily::Gemma3);
    ASSERT_TRUE(
        base::write_file(path("m.gguf"), convert::tiny_gguf(model, format::SourceType::Q8_0)));
    ASSERT_TRUE(base::write_file(path("text.txt"), std::string_view("the 我你\n\n我们\n")));
  }
  std::string path(const std::string& name) const { return folder_.file(name); }

  base::TestFolder folder_;
};

TEST_F(ConvertCommand, WritesAModelAndAParityTable) {
  const Answer answer = run({"convert", path("m.gguf"), "-o", path("m.laya"), "--contexts", "40"});
  ASSERT_EQ(answer.exit_code, kOk) << answer.err;
  for (const char* text : {"Tiny (gemma3)", "cc0-1.0", "layers.*.ffn.down.weight", "Q8_0",
                           "int8/32", "its weights, in fp32", "as it runs", "100.0 %"}) {
    EXPECT_NE(answer.out.find(text), std::string::npos) << text << " in\n" << answer.out;
  }
  EXPECT_EQ(answer.out.find("warning"), std::string::npos) << answer.out;  // taken over as it is
  EXPECT_TRUE(format::ModelFile::open(path("m.laya"), format::Verify::Full));
}

TEST_F(ConvertCommand, WarnsAndNamesALayerWhereCandidatesChange) {
  const Answer answer = run(
      {"convert", path("m.gguf"), "-o", path("m.laya"), "--type", "int4/128", "--contexts", "40"});
  ASSERT_EQ(answer.exit_code, kOk) << answer.err;
  EXPECT_NE(answer.out.find("warning: "), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("; layers."), std::string::npos) << answer.out;
}

TEST_F(ConvertCommand, SaysTheSameToPrograms) {
  const Answer answer = run({"convert", path("m.gguf"), "-o", path("m.laya"), "--contexts", "40",
                             "--keep-text", path("text.txt"), "--head", "int4", "--tensor",
                             "layers.1.ffn.up.weight=fp16", "--name", "Mine", "--json"});
  ASSERT_EQ(answer.exit_code, kOk) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["name"], "Mine");
  EXPECT_EQ(json["source_vocabulary"], 900);
  EXPECT_LT(json["vocabulary"].get<int>(), 270);
  EXPECT_GT(json["weights"]["mean_kl"].get<double>(), 0.0);
  EXPECT_GT(json["run"]["contexts"].get<int>(), 0);
  std::map<std::string, std::string> precisions;
  for (const auto& tensor : json["tensors"]) precisions[tensor["name"]] = tensor["precision"];
  EXPECT_EQ(precisions["layers.1.ffn.up.weight"], "fp16");
  EXPECT_EQ(precisions["layers.0.ffn.up.weight"], "int8/32");
  EXPECT_EQ(precisions["embedding.weight"], "int8/32");
  EXPECT_EQ(precisions["head.weight"], "int4/32m");
}

TEST_F(ConvertCommand, RefusesWithTheRemedyAndWritesNothing) {
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    const char* says;
  };
  const std::string out = path("no.laya");
  const std::vector<Case> cases = {
      {{"convert", path("missing.gguf"), "-o", out}, kFailed, "missing.gguf"},
      {{"convert", path("text.txt"), "-o", out}, kFailed, "text.txt"},
      {{"convert", path("m.gguf"), "-o", out, "--type", "int3"}, kUsage, "int4"},
      {{"convert", path("m.gguf"), "-o", out, "--head", "x"}, kUsage, "--head"},
      {{"convert", path("m.gguf"), "-o", out, "--tensor", "x"}, kUsage, "TENSOR=PRECISION"},
      {{"convert", path("m.gguf"), "-o", out, "--tensor", "nothing.weight=int8"},
       kUsage,
       "nothing.weight"},
      {{"convert", path("m.gguf"), "-o", out, "--keep", "zh,en"}, kFailed, "--keep-text"},
      {{"convert", path("m.gguf"), "-o", "/nowhere/at/all.laya"}, kFailed, "/nowhere"},
      {{"convert"}, kUsage, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    const Answer answer = run(c.arguments);
    if (c.exit_code == kFailed) {
      EXPECT_NE(answer.exit_code, kOk);
    } else {
      EXPECT_EQ(answer.exit_code, c.exit_code);
    }
    EXPECT_NE(answer.err.find(c.says), std::string::npos) << answer.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

}  // namespace
}  // namespace laya::apps

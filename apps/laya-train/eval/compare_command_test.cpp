#include "laya-train/eval/compare_command.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "common/test_run.h"
#include "convert/convert_test_models.h"
#include "laya/models/convert_command.h"

namespace laya::apps {
namespace {

Answer run(std::vector<std::string> arguments) {
  const auto add = [](CLI::App& app, Outcome& outcome) {
    add_convert_command(app, outcome);
    add_compare_command(app, outcome);
  };
  return run_command(add, std::move(arguments));
}

class CompareCommand : public testing::Test {
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

TEST_F(CompareCommand, ComparesAPrunedModelWithTheWholeOne) {
  ASSERT_EQ(run({"convert", path("m.gguf"), "-o", path("all.laya"), "--contexts", "0"}).exit_code,
            kOk);
  ASSERT_EQ(run({"convert", path("m.gguf"), "-o", path("some.laya"), "--contexts", "0",
                 "--keep-text", path("text.txt")})
                .exit_code,
            kOk);
  const Answer answer =
      run({"compare", path("all.laya"), path("some.laya"), "--text", path("text.txt"), "--json"});
  ASSERT_EQ(answer.exit_code, kOk) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_GT(json["contexts"].get<int>(), 4);
  EXPECT_EQ(json["max_logit_error"], 0.0);
  EXPECT_NE(run({"compare", path("some.laya"), path("all.laya")}).exit_code, kOk);
}

}  // namespace
}  // namespace laya::apps

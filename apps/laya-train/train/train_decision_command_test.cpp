#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "common/test_run.h"
#include "laya-train/train/quantize_command.h"
#include "laya-train/train/train_command.h"
#include "laya/bench/bench_decision.h"
#include "model/decision/decision_model.h"

namespace laya::apps {
namespace {

const std::string kData = std::string(LAYA_SOURCE_DIR) + "/testdata/decision/";

Answer run(std::vector<std::string> arguments) {
  return run_command(
      [](CLI::App& app, Outcome& outcome) {
        add_train_command(app, outcome);
        add_quantize_command(app, outcome);
        add_bench_decision_command(*app.add_subcommand("bench"), outcome);
      },
      std::move(arguments));
}

/// This build may have no MLX.
bool cannot_train(const Answer& answer) {
  return answer.exit_code == kFailed && answer.err.find("no MLX") != std::string::npos;
}

TEST(TrainDecision, RankerIsTrainedQuantisedAndTimedByItsCommands) {
  const base::TestFolder folder;
  const std::string exact = folder.file("ranker.laya"), small = folder.file("small.laya");
  for (const char* loss : {"listnet", "pairwise"}) {
    const Answer trained =
        run({"train", "ranker", "--groups", kData + "candidates.tsv", "--out", exact, "--loss",
             loss, "--batch", "64", "--hidden", "24,8", "--licence", "CC0-1.0", "--json"});
    if (cannot_train(trained)) GTEST_SKIP() << trained.err;
    ASSERT_EQ(trained.exit_code, kOk) << trained.err;
    const auto report = nlohmann::json::parse(trained.out);
    EXPECT_EQ(report["kind"], "mlp_ranker");
    EXPECT_EQ(report["decisions"], 1440);
    EXPECT_GT(report["dev"]["top_1"].get<double>(),
              report["dev_baseline"]["top_1"].get<double>() + 0.15);
    const auto file = format::ModelFile::open(exact);
    const auto metadata = nlohmann::json::parse(file->metadata_json());
    EXPECT_EQ(metadata["licence"], "CC0-1.0");
    EXPECT_EQ(metadata["training"]["loss"], loss);
    EXPECT_EQ(metadata["training"]["dev"], report["dev"]);
    EXPECT_EQ(model::read_decision_config(*file)->hidden, (std::vector<std::uint32_t>{24, 8}));
  }
  const Answer quantised = run({"quantize", exact, small, "--group", "32", "--examples",
                                kData + "candidates.tsv", "--json"});
  ASSERT_EQ(quantised.exit_code, kOk) << quantised.err;
  const auto cost = nlohmann::json::parse(quantised.out);
  EXPECT_EQ(cost["decisions"], 1600);
  EXPECT_GT(cost["same_first"].get<double>(), 0.97);
  EXPECT_LT(cost["right"]["quantised"].get<double>(), 1.0);

  const Answer timed = run({"bench", "decision", small, "--decisions", "100", "--json"});
  ASSERT_EQ(timed.exit_code, kOk) << timed.err;
  const auto times = nlohmann::json::parse(timed.out);
  ASSERT_EQ(times["decisions"].size(), 2U);
  EXPECT_EQ(times["decisions"][0]["allocations_after_warmup"], 0);
  EXPECT_GT(times["decisions"][1]["us"]["p50"].get<double>(), 0.0);
}

TEST(TrainDecision, TokensAreLearntByBothKinds) {
  const base::TestFolder folder;
  const std::string exact = folder.file("game.laya"), small = folder.file("small.laya");
  for (const char* kind : {"mlp", "transformer"}) {
    const Answer trained =
        run({"train", kind, "--examples", kData + "game.jsonl", "--out", exact, "--batch", "64",
             "--learning-rate", "0.005", "--embedding-dim", "16", "--json"});
    if (cannot_train(trained)) GTEST_SKIP() << trained.err;
    ASSERT_EQ(trained.exit_code, kOk) << trained.err;
    const auto report = nlohmann::json::parse(trained.out);
    EXPECT_GT(report["dev"]["accuracy"].get<double>(), 0.8) << kind;
    EXPECT_LT(report["dev_baseline"]["accuracy"].get<double>(), 0.5);
    const Answer quantised = run({"quantize", exact, small, "--bits", "8", "--group", "32",
                                  "--examples", kData + "game.jsonl"});
    EXPECT_EQ(quantised.exit_code, kOk) << quantised.err;
    EXPECT_NE(quantised.out.find("1600 decisions"), std::string::npos) << quantised.out;
  }
}

TEST(TrainDecision, WithoutAModelTheBenchTimesTheUsualShapes) {
  const Answer timed = run({"bench", "decision", "--decisions", "100"});
  ASSERT_EQ(timed.exit_code, kOk) << timed.err;
  for (const char* word : {"64 candidates", "windowed MLP", "2 layers", "int4/32"}) {
    EXPECT_NE(timed.out.find(word), std::string::npos) << timed.out;
  }
  EXPECT_EQ(timed.out.find("ALLOCATES"), std::string::npos) << timed.out;
}

TEST(TrainDecision, SaysWhatIsWrong) {
  const base::TestFolder folder;
  const std::string out = folder.file("out.laya");
  ASSERT_TRUE(base::write_file(folder.file("few"), "{\"window\":[1],\"action\":1}\n"));
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    const char* word;
  };
  const Case cases[] = {
      {{"train", "ranker", "--groups", folder.file("none"), "--out", out}, kFailed, "none"},
      {{"train", "ranker", "--groups", kData + "game.jsonl", "--out", out}, kFailed, "line 1"},
      {{"train", "mlp", "--examples", kData + "candidates.tsv", "--out", out}, kFailed, "line 1"},
      {{"train", "mlp", "--examples", folder.file("few"), "--out", out}, kUsage, "too few"},
      {{"train", "ranker", "--groups", kData + "candidates.tsv"}, kUsage, ""},
      {{"train", "ranker", "--groups", "x", "--out", out, "--loss", "hinge"}, kUsage, ""},
      {{"bench", "decision", folder.file("few")}, kFailed, "few"},
  };
  for (const Case& c : cases) {
    const Answer answer = run(c.arguments);
    EXPECT_EQ(answer.exit_code, c.exit_code) << answer.err;
    EXPECT_NE(answer.err.find(c.word), std::string::npos) << answer.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

TEST(TrainDecision, QuantizeTellsWhichMeasureIsForWhichModel) {
  const base::TestFolder folder;
  const auto config = model::default_windowed_mlp_config(4, 2);
  const std::string exact = folder.file("exact.laya");
  ASSERT_TRUE(
      model::write_decision_model(exact, config, model::random_decision_weights(config, 1), ""));
  const Answer answer = run({"quantize", exact, folder.file("x"), "--text", "any.txt"});
  EXPECT_EQ(answer.exit_code, kUsage);
  EXPECT_NE(answer.err.find("--examples"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace laya::apps

// The program as scripts meet it: outputs, exit codes, one-line errors for everything that can be
// wrong.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/test_folder.h"
#include "common/run_laya.h"

namespace laya::apps {
namespace {

const std::string kSource = LAYA_SOURCE_DIR;
const std::string kModel = " --model " + kSource + "/testdata/predict/ngram.laya";

Ran run(const std::string& arguments, const std::string& environment = "",
        const std::string& input = "/dev/null") {
  return run_laya(arguments, environment, input);
}

nlohmann::json complete(const std::string& arguments, const std::string& input = "/dev/null") {
  const Ran ran = run("complete --json " + arguments + kModel, "", input);
  EXPECT_EQ(ran.code, 0) << ran.error;
  return nlohmann::json::parse(ran.out, nullptr, false);
}

TEST(CommandLine, CompleteAnswersInTheAgreedShape) {
  const nlohmann::json reply = complete("--context 'see you tom' -n 3");
  ASSERT_TRUE(reply.is_object());
  ASSERT_GE(reply["candidates"].size(), 1u);
  ASSERT_LE(reply["candidates"].size(), 3u);
  const nlohmann::json& first = reply["candidates"][0];
  EXPECT_EQ(first["text"], "tomorrow");
  EXPECT_EQ(first["insert"], "orrow");
  EXPECT_LT(first["logprob"].get<double>(), 0);
  EXPECT_EQ(first["source"], "ngram");
  EXPECT_TRUE(reply["ghost"].is_null() || reply["ghost"]["text"].is_string());
  EXPECT_GT(reply["latency_us"].get<double>(), 0);
}

TEST(CommandLine, CompleteTakesAnyText) {
  EXPECT_TRUE(complete("--context ''").is_object());
  EXPECT_TRUE(complete("--context '👍👍🏽👨‍👩‍👧'").is_object());
  EXPECT_TRUE(complete("--context \"$(printf 'a\\377\\344\\275')\"").is_object());
  EXPECT_TRUE(complete("--context 'see ' --after ' tomorrow'").is_object());
  EXPECT_EQ(complete("--context hello -n 0")["candidates"].size(), 0u);

  const base::TestFolder folder;
  const std::string big = folder.file("big.txt");
  {
    std::ofstream out(big, std::ios::binary);
    for (int i = 0; i < 60'000; ++i) out << "some 文字 words\xFF ";
    out << "see you tom";
  }
  const nlohmann::json reply = complete("--context-file " + big);
  EXPECT_EQ(reply["candidates"][0]["text"], "tomorrow");
  EXPECT_EQ(complete("--context-file -", big)["candidates"][0]["text"], "tomorrow");
}

TEST(CommandLine, EveryErrorIsOneLineThatNamesTheRemedy) {
  const base::TestFolder folder;
  const std::string other_version = folder.file("future.laya");
  {
    std::ifstream in(kSource + "/testdata/predict/ngram.laya", std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    bytes[8] = static_cast<char>(bytes[8] + 40);  // the version field, FORMAT.md
    std::ofstream(other_version, std::ios::binary) << bytes;
  }
  const std::string empty = folder.file("empty.txt");
  std::ofstream(empty) << "\n  \n";
  struct Case {
    const char* name;
    std::string arguments;
    int code;
    const char* error;
  };
  const Case cases[] = {
      {"no such command", "frobnicate", 2, "laya --help"},
      {"no such option", "complete --frob", 2, "laya complete --help"},
      {"nothing asked", "complete", 2, "--context"},
      {"bad count", "complete --context a -n 99", 2, "laya complete --help"},
      {"no such model", "complete --context a --model /nowhere/gru.laya", 2, "/nowhere/gru.laya"},
      {"no model", "complete --context a --model " + kSource + "/LICENSE", 1, "LICENSE"},
      {"another version", "complete --context a --model " + other_version, 1, "version"},
      {"no such file", "complete --context-file /nowhere" + kModel, 1, "/nowhere"},
      {"no terminal", "type" + kModel, 2, "laya complete"},
      {"eval without a file", "eval ksr" + kModel, 2, "--file"},
      {"eval of nothing", "eval ksr --file " + empty + kModel, 2, "no line"},
      {"a count below zero", "eval ksr --lines -3 --file x" + kModel, 2, "--lines"},
      {"no text",
       "eval ksr --deep none --file " + kSource + "/testdata/predict/ngram.laya" + kModel, 1,
       "ngram.laya: byte"},
      {"bad slots", "eval ksr --slots 0 --file x" + kModel, 2, "laya eval ksr --help"},
      {"no vocabulary", "vocabulary cut x --vocabulary " + kSource + "/LICENSE", 1, "LICENSE"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Ran ran = run(c.arguments);
    EXPECT_EQ(ran.code, c.code);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.error.starts_with("laya: ")) << ran.error;
    EXPECT_NE(ran.error.find(c.error), std::string::npos) << ran.error;
    EXPECT_EQ(ran.error.find('\n'), ran.error.size() - 1) << ran.error;
  }
}

TEST(CommandLine, ModelCanBeNamedByTheEnvironment) {
  const Ran good = run("complete --context 'see you tom' -n 1",
                       "LAYA_MODEL=" + kSource + "/testdata/predict/ngram.laya");
  EXPECT_EQ(good.code, 0) << good.error;
  EXPECT_NE(good.out.find("tomorrow"), std::string::npos);
  const Ran bad = run("complete --context a", "LAYA_MODEL=/nowhere");
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.error.find("$LAYA_MODEL"), std::string::npos) << bad.error;
}

TEST(CommandLine, ErrorsNeverRepeatTypedText) {
  const Ran ran = run("complete --context 'my secret words' --frob");
  EXPECT_EQ(ran.error.find("secret"), std::string::npos);
  const Ran unquoted = run("complete --context my secret words");
  EXPECT_EQ(unquoted.code, 2);
  EXPECT_EQ(unquoted.error.find("secret"), std::string::npos) << unquoted.error;
}

TEST(CommandLine, SaysItsVersion) {
  for (const char* flag : {"--version", "-V"}) {
    const Ran ran = run(flag);
    EXPECT_EQ(ran.code, 0);
    EXPECT_TRUE(ran.out.starts_with("laya 0.")) << ran.out;
    EXPECT_EQ(ran.error, "");
  }
}

TEST(CommandLine, EveryCommandTeachesWithAnExample) {
  const Ran help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"type", "complete", "replay", "bench", "eval", "train", "quantize",
                              "vocabulary", "model", "inspect", "doctor"}) {
    SCOPED_TRACE(command);
    EXPECT_NE(help.out.find(command), std::string::npos);
    const Ran one = run(std::string(command) + " --help");
    EXPECT_EQ(one.code, 0);
    EXPECT_NE(one.out.find("example"), std::string::npos) << one.out;
    EXPECT_NE(one.out.find(std::string("laya ") + command), std::string::npos);
  }
}

TEST(CommandLine, ReplayTypesTheDemoAndCounts) {
  const Ran ran = run("replay --json" + kModel);
  ASSERT_EQ(ran.code, 0) << ran.error;
  const nlohmann::json figures = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_GT(figures["keys"].get<int>(), 50);
  EXPECT_GE(figures["characters"].get<int>(), figures["keys"].get<int>());
  EXPECT_GT(figures["latency_us"]["p99"].get<double>(), 0);
  const Ran steps = run("replay" + kModel);
  EXPECT_NE(steps.out.find("keystrokes saved"), std::string::npos);
}

TEST(CommandLine, EvalKeepsToTheAgreedShape) {
  const Ran ran = run("eval ksr --slots 1,3 --lines 20 --json --file " + kSource +
                      "/testdata/predict/text.txt" + kModel);
  ASSERT_EQ(ran.code, 0) << ran.error;
  const nlohmann::json result = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_EQ(result["lines"], 20);
  EXPECT_GT(result["saved"]["3"].get<double>(), result["saved"]["1"].get<double>());
  EXPECT_FALSE(result["saved"].contains("5"));
}

TEST(CommandLine, EvalReadsCompressedTextAlike) {
  const std::string eval = "eval ksr --lines 20 --json" + kModel + " --file " + kSource;
  const Ran plain = run(eval + "/testdata/predict/text.txt");
  const Ran compressed = run(eval + "/testdata/predict/text.txt.zst");
  ASSERT_EQ(plain.code, 0) << plain.error;
  ASSERT_EQ(compressed.code, 0) << compressed.error;
  nlohmann::json one = nlohmann::json::parse(plain.out, nullptr, false);
  nlohmann::json other = nlohmann::json::parse(compressed.out, nullptr, false);
  ASSERT_FALSE(one.is_discarded());
  EXPECT_EQ(one["text"], "text.txt");
  EXPECT_EQ(other["text"], "text.txt.zst");
  for (nlohmann::json* each : {&one, &other}) {
    EXPECT_EQ(each->erase("key_us"), 1U);  // times differ from run to run
    each->erase("text");
  }
  EXPECT_EQ(other, one);
}

TEST(CommandLine, BenchKeepsToTheAgreedShapeAndChecksItself) {
  const Ran ran = run("bench --json --file " + kSource + "/testdata/predict/text.txt" + kModel);
  ASSERT_EQ(ran.code, 0) << ran.error;
  const nlohmann::json result = nlohmann::json::parse(ran.out, nullptr, false);
  for (const char* field : {"step_us", "candidates_us", "ghost_us"}) {
    for (const char* quantile : {"p50", "p95", "p99", "max"}) {
      EXPECT_TRUE(result[field][quantile].is_number()) << field;
    }
  }
  for (const char* field :
       {"weights_bytes", "stream_floor_us", "start_us", "rss_mb", "allocations_after_warmup"}) {
    EXPECT_TRUE(result[field].is_number()) << field;
  }
  EXPECT_EQ(result["allocations_after_warmup"], 0);
}

}  // namespace
}  // namespace laya::apps

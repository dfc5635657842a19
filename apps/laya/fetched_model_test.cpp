// End to end with a real pretrained model: SmolLM2, fetched once by the test's fixture
// (scripts/fetch_test_model) and converted anew in every run. Without it, and without a network to
// get it from, each test is skipped. Promises that hold for any sound conversion; no figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "common/run_laya.h"
#include "format/model_file.h"
#include "laya/type/pty_program.h"
#include "model/backends/cpu.h"
#include "model/decoder/decoder_loading.h"
#include "model/decoder/token_stream.h"
#include "text/subword_tokenizer.h"

namespace laya::apps {
namespace {

const std::string kData = LAYA_FETCHED_DATA;  // $XDG_DATA_HOME of the fixture
const std::string kModel = kData + "/laya/models/smollm2-135m.laya";

class FetchedModel : public testing::Test {
 protected:
  void SetUp() override {
    std::error_code ignored;
    if (!std::filesystem::exists(kModel, ignored)) {
      GTEST_SKIP() << "SmolLM2 is not here and could not be fetched";
    }
  }
  static Ran run(const std::string& arguments) {
    return run_laya(arguments, "unset LAYA_DEEP; XDG_DATA_HOME=" + kData);
  }
  static nlohmann::json complete(const std::string& context, const std::string& more = "") {
    const Ran ran = run("complete --json -n 10 --context '" + context + "' " + more);
    EXPECT_EQ(ran.code, 0) << ran.error;
    return nlohmann::json::parse(ran.out, nullptr, false);
  }
  static std::vector<std::string> words(const nlohmann::json& reply) {
    std::vector<std::string> words;
    for (const nlohmann::json& candidate : reply["candidates"]) words.push_back(candidate["text"]);
    return words;
  }
};

TEST_F(FetchedModel, IsInstalledIntactAndUsedByDefault) {
  EXPECT_EQ(run("model verify smollm2-135m").code, 0);
  const nlohmann::json list = nlohmann::json::parse(run("model list --json").out, nullptr, false);
  for (const nlohmann::json& model : list["models"]) {
    if (model["name"] != "smollm2-135m") continue;
    EXPECT_EQ(model["used"], true);
    const double size = model["installed"]["bytes"];
    EXPECT_NEAR(size / model["installed_bytes"].get<double>(), 1, 0.3) << "what the list promises";
  }
  const nlohmann::json metadata =
      nlohmann::json::parse(run("inspect --json " + kModel).out, nullptr, false);
  EXPECT_NE(metadata.dump().find("Apache-2.0"), std::string::npos);
}

TEST_F(FetchedModel, OffersPlacesAfterGoToThe) {
  const nlohmann::json reply = complete("I want to go to the ");
  EXPECT_EQ(reply["tier"], "deep");
  EXPECT_EQ(reply["deep"]["model"], "smollm2-135m");
  EXPECT_GT(reply["deep"]["passes"], 0);
  const std::set<std::string> places = {"beach",   "store",  "park",  "movies",    "bathroom",
                                        "gym",     "market", "zoo",   "hospital",  "library",
                                        "airport", "party",  "moon",  "school",    "city",
                                        "museum",  "mall",   "ocean", "mountains", "bank"};
  int hits = 0;
  for (std::string word : words(reply)) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    hits += places.contains(word) ? 1 : 0;
  }
  EXPECT_GE(hits, 3) << reply.dump();
}

TEST_F(FetchedModel, ProbabilitiesAreOrderedAndSumToAtMostOne) {
  for (const char* context : {"The ", "I would like", "See you tom", "We need 3 "}) {
    SCOPED_TRACE(context);
    // The ranker looks at more than the probability; these are the sources' own.
    const nlohmann::json reply = complete(context, "--without ranker");
    double sum = 0;
    double last = 0;
    for (const nlohmann::json& candidate : reply["candidates"]) {
      const double log_prob = candidate["logprob"];
      EXPECT_LE(log_prob, last);
      last = log_prob;
      sum += std::exp(log_prob);
    }
    EXPECT_LE(sum, 1.0001);
  }
}

TEST_F(FetchedModel, KnowsTheCapitalHoweverMuchOfItIsTyped) {
  for (const char* typed : {" ", " P", " Pa", " Par", " Pari"}) {
    SCOPED_TRACE(typed);
    const nlohmann::json reply =
        complete(std::string("The capital of France is the city of") + typed);
    ASSERT_FALSE(words(reply).empty());
    EXPECT_EQ(words(reply).front(), "Paris") << reply.dump();
  }
}

TEST_F(FetchedModel, EveryWordBeginsWithWhatIsTyped) {
  for (const char* typed : {"b", "st", "libr"}) {
    SCOPED_TRACE(typed);
    const nlohmann::json reply = complete(std::string("I want to go to the ") + typed);
    ASSERT_FALSE(reply["candidates"].empty());
    for (const nlohmann::json& candidate : reply["candidates"]) {
      EXPECT_EQ(typed + candidate["insert"].get<std::string>(), candidate["text"]);
    }
  }
}

TEST_F(FetchedModel, NoneIsTheInstantTierAlone) {
  const nlohmann::json none = complete("I want to go to the ", "--deep none");
  EXPECT_EQ(none["tier"], "instant");
  EXPECT_TRUE(none["deep"].is_null());
  EXPECT_NE(words(none), words(complete("I want to go to the ")));
}

TEST_F(FetchedModel, SavesKeystrokesOnPlainText) {
  const std::string eval =
      "eval ksr --json --slots 3 --lines 6 --file " LAYA_SOURCE_DIR "/testdata/fetched/letters.txt";
  const Ran with = run(eval);
  const Ran without = run(eval + " --deep none");
  ASSERT_EQ(with.code, 0) << with.error;
  const auto saved = [](const Ran& ran) {
    return nlohmann::json::parse(ran.out, nullptr, false)["saved"]["3"].get<double>();
  };
  EXPECT_GT(saved(with), saved(without));
}

/// `count` tokens after `prompt`, greedy.
std::string continuation(const std::string& prompt, std::size_t count, model::Threads threads) {
  const auto file = format::ModelFile::open(kModel);
  if (!file) return file.error().message;
  const auto decoder = model::load_decoder(*file, model::cpu_backend());
  if (!decoder) return decoder.error().message;
  const auto tokenizer = text::SubwordTokenizer::parse(*file->blob("tokenizer"));
  if (!tokenizer) return tokenizer.error().message;
  model::KvCache cache((*decoder)->config());
  model::TokenStream stream(**decoder, cache, {}, threads);
  std::vector<TokenId> tokens = tokenizer->encode(prompt);
  if (Status status = stream.start(tokens); !status) return status.error().message;
  std::vector<TokenId> out;
  for (std::size_t i = 0; i < count; ++i) {
    const Result<TokenId> token = stream.next_token();
    if (!token) return token.error().message;
    out.push_back(*token);
  }
  return tokenizer->decode(out);
}

TEST_F(FetchedModel, GreedyTextIsSensibleAndTheSameOnOneAndTwoThreads) {
  const std::string prompt = "Water freezes at zero degrees and boils at one hundred";
  const std::string text = continuation(prompt, 24, model::Threads::One);
  EXPECT_NE(text.find("degrees"), std::string::npos) << text;
  EXPECT_EQ(continuation(prompt, 24, model::Threads::Two), text);
  EXPECT_EQ(continuation(prompt, 24, model::Threads::One), text);
}

TEST_F(FetchedModel, TypeShowsBothTiersAndTheModelsName) {
  ::setenv("XDG_DATA_HOME", kData.c_str(), 1);
  ::unsetenv("LAYA_DEEP");
  PtyProgram program({"type"}, 24, 100);
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) { return p.shows("smollm2-135m"); }));
  program.send("I am looking forward to hear");
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) { return p.shows("1 hearing"); }))
      << program.row(22);
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) {
    return p.shows("deep") && p.shows("instant") && !p.shows("deep \xE2\x80\xA6");
  })) << program.row(23);
  program.send("\x03");
  EXPECT_EQ(program.wait_for_end(), 0);
  EXPECT_EQ(program.unknown(), "");
}

}  // namespace
}  // namespace laya::apps

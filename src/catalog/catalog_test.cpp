// The catalogue as data, where things lie, and the hash.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "catalog/folders.h"
#include "catalog/known_models.h"
#include "catalog/sha256.h"

namespace laya::catalog {
namespace {

TEST(KnownModels, EveryOneIsComplete) {
  std::set<std::string_view> names;
  for (const KnownModel& model : known_models()) {
    SCOPED_TRACE(model.name);
    EXPECT_TRUE(valid_name(model.name));
    EXPECT_TRUE(names.insert(model.name).second);
    EXPECT_EQ(find_known(model.name), &model);
    EXPECT_EQ(model.source_sha256.size(), 64u);
    EXPECT_EQ(model.source_sha256.find_first_not_of("0123456789abcdef"), std::string_view::npos);
    std::uint64_t bytes = 0;
    for (const WheelEntry& part : model.parts) bytes += part.bytes;
    EXPECT_EQ(bytes, model.source_bytes) << "the parts make the file";
    EXPECT_FALSE(model.licence.empty());
    EXPECT_FALSE(model.licences.empty());
    EXPECT_FALSE(model.languages.empty());
    EXPECT_FALSE(model.about.empty());
    EXPECT_GT(model.parameters, 0u);
    EXPECT_GT(model.download_bytes, 0u);
    EXPECT_GT(model.installed_bytes, 0u);
    EXPECT_EQ(model.acceptance == Acceptance::Needed, !model.licence_summary.empty());
  }
  EXPECT_TRUE(names.contains("smollm2-135m"));
  EXPECT_TRUE(names.contains("gemma3-270m"));
  EXPECT_EQ(find_known("gemma3-270m")->acceptance, Acceptance::Needed);
  EXPECT_EQ(find_known("smollm2"), nullptr);
}

/// Sets a variable for the test and puts back what was there.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = ::getenv(name);
    was_set_ = before != nullptr;
    if (was_set_) before_ = before;
    if (value != nullptr) {
      ::setenv(name, value, 1);
    } else {
      ::unsetenv(name);
    }
  }
  Variable(const Variable&) = delete;
  ~Variable() {
    if (was_set_) {
      ::setenv(name_, before_.c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  bool was_set_;
  std::string before_;
};

TEST(Folders, FollowTheXdgSpecification) {
  const Variable home("HOME", "/someone");
  {
    const Variable data("XDG_DATA_HOME", nullptr);
    const Variable cache("XDG_CACHE_HOME", "not/absolute");
    const Result<Folders> folders = user_folders();
    ASSERT_TRUE(folders);
    EXPECT_EQ(folders->models, "/someone/.local/share/laya/models");
    EXPECT_EQ(folders->downloads, "/someone/.cache/laya/downloads");
  }
  const Variable data("XDG_DATA_HOME", "/data");
  const Variable cache("XDG_CACHE_HOME", "/cache");
  const Variable no_home("HOME", nullptr);
  const Result<Folders> folders = user_folders();
  ASSERT_TRUE(folders) << "no $HOME is needed then";
  EXPECT_EQ(folders->models, "/data/laya/models");
  EXPECT_EQ(folders->downloads, "/cache/laya/downloads");
  const Variable no_cache("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(user_folders().error().code, ErrorCode::Unsupported);
}

TEST(Sha256, EqualsTheStandardsExamples) {
  // FIPS 180-4 test vectors (NIST CSRC examples).
  Sha256 empty;
  EXPECT_EQ(empty.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 abc;
  const std::string text = "abc";
  abc.update(std::as_bytes(std::span(text)).first(1));
  abc.update(std::as_bytes(std::span(text)).subspan(1));
  EXPECT_EQ(abc.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

  const base::TestFolder folder;
  ASSERT_TRUE(base::write_file(folder.file("a"), std::string(1'000'000, 'a')));
  std::uint64_t done = 0;
  const Result<std::string> million =
      sha256_of_file(folder.file("a"), [&](std::uint64_t bytes) { done = bytes; });
  ASSERT_TRUE(million);
  EXPECT_EQ(*million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(done, 1'000'000u);
  EXPECT_EQ(sha256_of_file(folder.file("none")).error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace laya::catalog

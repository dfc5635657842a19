// The rules on the repository itself. A complaint names the file, the line and the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "source_rules.h"

namespace laya::architecture {
namespace {

const std::filesystem::path kTop = LAYA_SOURCE_DIR;
constexpr std::uint64_t kMaxTextBytes = 4u << 20;

/// Files under the folders whose names end in one of `endings`, sorted.
Files load(const std::vector<std::string>& folders, const std::vector<std::string_view>& endings) {
  Files files;
  for (const std::string& folder : folders) {
    if (!std::filesystem::is_directory(kTop / folder)) {
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kTop / folder)) {
      const std::string path = std::filesystem::relative(entry.path(), kTop).generic_string();
      const bool wanted = std::any_of(endings.begin(), endings.end(),
                                      [&](std::string_view e) { return path.ends_with(e); });
      if (!entry.is_regular_file() || !wanted) {
        continue;
      }
      const auto text = base::read_file(entry.path().string(), kMaxTextBytes);
      EXPECT_TRUE(text) << text.error().message;
      if (text) {
        files.push_back(parse_source(path, *text));
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

class Repository : public testing::Test {
 protected:
  static void expect_none(const Complaints& complaints) {
    for (const std::string& complaint : complaints) {
      ADD_FAILURE() << complaint;
    }
  }
  const Files sources_ =
      load({"src", "apps", "frontends", "fuzz", "bench", "tests"}, {".h", ".cpp", ".inc", ".inl"});
};

TEST_F(Repository, IsFound) { EXPECT_GT(sources_.size(), 30u); }
TEST_F(Repository, RoomsIncludeOnlyTheirRow) { expect_none(check_rooms(sources_)); }
TEST_F(Repository, HasNoIncludeCycles) { expect_none(check_cycles(sources_)); }
TEST_F(Repository, HasNoCyclesBetweenSubRooms) { expect_none(check_sub_rooms(sources_)); }
TEST_F(Repository, KeepsLibrariesWhereTheyBelong) { expect_none(check_libraries(sources_)); }
TEST_F(Repository, HasNoFileOver600Lines) { expect_none(check_lengths(sources_)); }
TEST_F(Repository, LibrariesNeitherPrintNorExit) { expect_none(check_library_manners(sources_)); }
TEST_F(Repository, HeadersBeginWithPragmaOnce) { expect_none(check_pragma_once(sources_)); }
TEST_F(Repository, HasNoConditionalLogic) { expect_none(check_conditionals(sources_)); }

TEST_F(Repository, CommentsNameFilesThatExist) {
  std::vector<std::string> paths;
  for (const SourceFile& file : sources_) paths.push_back(file.path);
  for (const SourceFile& page :
       load({"src", "apps", "docs", "models", "testdata", "bench"}, {".md"}))
    paths.push_back(page.path);
  for (const char* page : {"README.md", "README.zh-CN.md", "CHANGELOG.md"}) paths.push_back(page);
  expect_none(check_named_files(sources_, paths));
}

TEST_F(Repository, NamesNoDevelopersMachine) {
  Files files = load({"src", "apps", "frontends", "fuzz", "bench", "tests", "cmake", "scripts",
                      "docs", "models", ".ci"},
                     {".h", ".cpp", ".inc", ".inl", ".txt", ".cmake", ".md", ".toml", ".json",
                      ".sh", "/run", "/setup"});
  for (const char* name : {"CMakeLists.txt", "CMakePresets.json", "Makefile", "README.md",
                           "README.zh-CN.md", "CHANGELOG.md"}) {
    if (const auto text = base::read_file((kTop / name).string(), kMaxTextBytes)) {
      files.push_back(parse_source(name, *text));
    }
  }
  expect_none(check_machine_paths(files));
}

}  // namespace
}  // namespace laya::architecture

#include "laya/models/inspect_command.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/test_folder.h"
#include "common/test_run.h"

namespace laya::apps {
namespace {

constexpr const char* kSample = LAYA_SOURCE_DIR "/testdata/format/v1_small.laya";

TEST(Inspect, TellsPeopleWhatIsInTheFile) {
  const auto file = format::ModelFile::open(kSample);
  ASSERT_TRUE(file) << file.error().message;
  const std::string text = inspect_text(*file);
  for (const char* part :
       {".laya version 1", "12 entries, all checksums match",
        "licence                       CC0-1.0", "config.hidden_dim             512", "int8/32+min",
        "20 x 40", "2,304", "blob", "样本 sample"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in:\n" << text;
  }
  EXPECT_EQ(text.find("DAMAGED"), std::string::npos);
}

TEST(Inspect, TellsProgramsTheSame) {
  const auto file = format::ModelFile::open(kSample);
  ASSERT_TRUE(file);
  const auto json = inspect_json(*file);
  EXPECT_EQ(json["format_version"], 1);
  EXPECT_EQ(json["intact"], true);
  EXPECT_EQ(json["metadata"]["config"]["layers"], 2);
  ASSERT_EQ(json["entries"].size(), 12u);
  EXPECT_EQ(json["entries"][1]["name"], "embedding.weight");
  EXPECT_EQ(json["entries"][1]["shape"], (std::vector<int>{20, 40}));
  EXPECT_EQ(json["entries"][1]["minima"], true);
  EXPECT_EQ(json["entries"][1]["checksum"].get<std::string>().size(), 16u);
}

Answer run(const std::vector<std::string>& arguments) {
  return run_command(add_inspect_command, arguments);
}

TEST(InspectCommand, ADamagedFileIsShownAndFails) {
  base::TestFolder folder;
  std::string bytes = base::read_file(kSample, 1 << 20).value();
  const auto file = format::ModelFile::open(kSample);
  bytes[file->find("cube")->offset] ^= 1;
  ASSERT_TRUE(base::write_file(folder.file("bad.laya"), bytes));
  const Answer text = run({"inspect", folder.file("bad.laya")});
  EXPECT_EQ(text.exit_code, kFailed);
  EXPECT_NE(text.out.find("1 DAMAGED"), std::string::npos) << text.out;
  EXPECT_NE(text.err.find("bad.laya: damaged"), std::string::npos) << text.err;
  const Answer json = run({"inspect", "--json", folder.path().string()});
  EXPECT_EQ(json.exit_code, kFailed);
  EXPECT_EQ(nlohmann::json::parse(json.out)["intact"], false);
}

TEST(InspectCommand, WhatIsNoModelFailsInOneLine) {
  base::TestFolder folder;
  ASSERT_TRUE(base::write_file(folder.file("x.laya"), "GGUF" + std::string(100, 'x')));
  const Answer foreign = run({"inspect", folder.file("x.laya")});
  EXPECT_EQ(foreign.exit_code, kFailed);
  EXPECT_EQ(foreign.out, "");
  EXPECT_NE(foreign.err.find("a GGUF file"), std::string::npos) << foreign.err;
  EXPECT_EQ(std::count(foreign.err.begin(), foreign.err.end(), '\n'), 1);
  base::TestFolder empty;
  EXPECT_EQ(run({"inspect", empty.path().string()}).exit_code, kUsage);
}

TEST(InspectCommand, JsonIsOneLineForEachFile) {
  const Answer both = run({"inspect", "--json", kSample, kSample});
  EXPECT_EQ(both.exit_code, kOk) << both.err;
  EXPECT_EQ(std::count(both.out.begin(), both.out.end(), '\n'), 2);
}

}  // namespace
}  // namespace laya::apps

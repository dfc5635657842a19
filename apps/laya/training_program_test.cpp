// `laya` without training in it: what it links, and how it hands over.
#include "laya/training_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/test_folder.h"
#include "common/run_laya.h"

namespace laya::apps {
namespace {

namespace fs = std::filesystem;

std::string output_of(const std::string& command) {
  std::string out;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    out.append(buffer.data(), got);
  }
  ::pclose(pipe);
  return out;
}

TEST(TrainingProgram, LayaItselfLoadsNoTraining) {
  const std::string libraries = output_of("ldd " LAYA_PROGRAM);
  ASSERT_NE(libraries.find("libc.so"), std::string::npos) << libraries;
  for (const char* name : {"mlx", "openblas", "blas", "dnnl", "sentencepiece", "gomp", "omp.so"}) {
    EXPECT_EQ(libraries.find(name), std::string::npos) << name << " in\n" << libraries;
  }
}

// Each costs every start milliseconds and megabytes; most texts want neither.
TEST(TrainingProgram, LayaStartsWithoutPinyinAndCurl) {
  const std::string libraries = output_of("ldd " LAYA_PROGRAM);
  for (const char* name : {"libcurl", "libIME", "libFcitx5", "libkenlm"}) {
    EXPECT_EQ(libraries.find(name), std::string::npos) << name << " in\n" << libraries;
  }
}

TEST(TrainingProgram, RunsTheCommandsThatAreItsAndNamesThemAsTyped) {
  for (const char* command : {"train", "eval ksr", "simulate", "quantize", "compare", "vocabulary",
                              "bench train", "bench mlx", "bench peers"}) {
    SCOPED_TRACE(command);
    const Ran ran = run_laya(std::string(command) + " --help");
    EXPECT_EQ(ran.code, 0) << ran.error;
    EXPECT_NE(ran.out.find("example: laya "), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("Usage: laya "), std::string::npos) << ran.out;
  }
  const Ran bad = run_laya("eval ksr --frob");
  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(bad.error.starts_with("laya: ")) << bad.error;
}

/// laya alone in a folder, and nothing in $PATH.
TEST(TrainingProgram, WhereItIsNotThereOneLineNamesThePackage) {
  const base::TestFolder folder;
  const std::string alone = folder.file("laya");
  fs::copy_file(LAYA_PROGRAM, alone);
  for (const char* command : {"train gru", "eval ksr --file x", "bench peers"}) {
    SCOPED_TRACE(command);
    const std::string out = output_of("PATH= " + alone + " " + command + " 2>&1; echo \"code $?\"");
    EXPECT_TRUE(out.starts_with("laya: ")) << out;
    EXPECT_NE(out.find("package laya-train"), std::string::npos) << out;
    EXPECT_NE(out.find("\ncode 1\n"), std::string::npos) << out;
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2) << out;
  }
  const std::string doctor = output_of("PATH= LAYA_DEEP=none " + alone + " doctor 2>&1");
  EXPECT_NE(doctor.find("laya-train"), std::string::npos) << doctor;
  EXPECT_EQ(output_of("PATH= " + alone + " --version").substr(0, 5), "laya ");
}

TEST(TrainingProgram, IsNeverTakenFromTheCurrentFolder) {
  const base::TestFolder folder;
  const std::string alone = folder.file("laya");
  fs::copy_file(LAYA_PROGRAM, alone);
  fs::create_directory(folder.path() / "here");
  {
    std::FILE* script = std::fopen((folder.path() / "here/laya-train").c_str(), "w");
    ASSERT_NE(script, nullptr);
    std::fputs("#!/bin/sh\necho taken\n", script);
    std::fclose(script);
  }
  fs::permissions(folder.path() / "here/laya-train", fs::perms::owner_all);
  const std::string here = "cd " + folder.file("here") + "; ";
  EXPECT_EQ(output_of(here + "PATH=.: " + alone + " eval 2>/dev/null"), "");
  EXPECT_EQ(output_of(here + "PATH=" + folder.file("here") + " " + alone + " eval 2>/dev/null"),
            "taken\n");
}

TEST(TrainingProgram, TheHelpListsItsCommandsUnderTheirOwnHeading) {
  const Ran help = run_laya("--help");
  const std::size_t heading = help.out.find("Run by laya-train");
  ASSERT_NE(heading, std::string::npos) << help.out;
  EXPECT_NE(help.out.find("  eval ", heading), std::string::npos) << help.out;
  EXPECT_EQ(help.out.find("  eval "), help.out.find("  eval ", heading)) << help.out;
}

}  // namespace
}  // namespace laya::apps

// The completion server as a user meets it: settings, `complete --remote`, what the doctor says.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/test_folder.h"
#include "common/run_laya.h"
#include "remote/test_server.h"

namespace laya::apps {
namespace {

class RemoteCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (LAYA_HAVE_CURL == 0) GTEST_SKIP() << "built without libcurl";
  }
  void write_settings(const std::string& text) {
    std::filesystem::create_directories(folder_.path() / "laya");
    std::ofstream(folder_.path() / "laya" / "laya.toml") << text;
  }
  Ran run(const std::string& arguments) {
    return run_laya(arguments + " --model " LAYA_SOURCE_DIR "/testdata/predict/ngram.laya",
                    "export XDG_CONFIG_HOME=" + folder_.path().string() + ";");
  }
  base::TestFolder folder_;
};

TEST_F(RemoteCommand, CompleteShowsTheServersCandidatesMarkedAndKeepsTheKeyToItself) {
  remote::TestServer server([](const std::string&) {
    return remote::TestServer::ok(R"({"choices":[{"text":"orrow at noon"}]})");
  });
  write_settings("[remote]\nurl = \"" + server.url() +
                 "\"\nmodel = \"big\"\nkey_file = \"k\"\ntime_limit_ms = 20000\n");
  std::ofstream(folder_.path() / "laya" / "k") << "sk-secret\n";
  const Ran ran = run("complete --remote --json --context 'see you tom' -n 2");
  ASSERT_EQ(ran.code, 0) << ran.error;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json["candidates"].size(), 3u) << ran.out;
  EXPECT_EQ(json["candidates"][0]["tier"], "instant");
  const auto& last = json["candidates"][2];
  EXPECT_EQ(last["text"], "tomorrow at noon");
  EXPECT_EQ(last["insert"], "orrow at noon");
  EXPECT_EQ(last["source"], "remote");
  EXPECT_EQ(last["tier"], "remote");
  EXPECT_EQ(json["remote"]["server"], "big at 127.0.0.1");
  EXPECT_NE(server.last_request().find("Authorization: Bearer sk-secret"), std::string::npos);
  EXPECT_EQ((ran.out + ran.error).find("sk-secret"), std::string::npos);

  const Ran plain = run("complete --context 'see you tom' -n 2");
  EXPECT_EQ(plain.out.find("noon"), std::string::npos);
  EXPECT_EQ(server.requests(), 1) << "without --remote nothing is sent";
}

TEST_F(RemoteCommand, CompleteSaysWhatIsMissingOrWentWrong) {
  const Ran none = run("complete --remote --context 'see you tom'");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.error.find("laya.toml"), std::string::npos) << none.error;
  remote::TestServer server([](const std::string&) { return remote::TestServer::ok("{}"); });
  write_settings("[remote]\nurl = \"" + server.url() + "\"\ntime_limit_ms = 20000\n");
  const Ran bad = run("complete --remote --json --context 'see you tom'");
  ASSERT_EQ(bad.code, 0) << bad.error;
  const auto json = nlohmann::json::parse(bad.out);
  EXPECT_NE(json["remote"]["problem"].get<std::string>().find("choices"), std::string::npos);
  EXPECT_GE(json["candidates"].size(), 1u) << "without it everything works";
}

TEST_F(RemoteCommand, TheDoctorSaysWhetherItIsOn) {
  const auto line = [&] {
    const auto report = nlohmann::json::parse(run("doctor --json").out);
    for (const auto& check : report["checks"]) {
      if (check["name"] == "completion server") return check;
    }
    return nlohmann::json();
  };
  EXPECT_EQ(line()["on"], false);
  EXPECT_EQ(line()["status"], "ok");
  write_settings("[remote]\nmodel = \"big\"\nurl = \"http://127.0.0.1:11434/v1/completions\"\n");
  EXPECT_EQ(line()["on"], true);
  EXPECT_EQ(line()["server"], "big at 127.0.0.1");
  write_settings("[remote]\nurl = 1\n");
  EXPECT_EQ(line()["on"], false);
  EXPECT_NE(line()["detail"].get<std::string>().find("[remote] url"), std::string::npos);
}

}  // namespace
}  // namespace laya::apps

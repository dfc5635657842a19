#include "setup/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_folder.h"
#include "common/run_laya.h"
#include "remote/test_server.h"

namespace laya::apps {
namespace {

constexpr const char* kServer = "url = \"http://127.0.0.1:11434/v1/completions\"\n";

TEST(Settings, AreOffByDefault) {
  for (const char* text : {"", "# nothing\n", "[remote]\n", "[remote]\nmodel = \"m\"\n"}) {
    const auto settings = parse_settings(text, "laya.toml");
    ASSERT_TRUE(settings) << settings.error().message;
    EXPECT_FALSE(settings->remote.is_on());
  }
}

TEST(Settings, ReadAllOfTheServer) {
  const auto settings = parse_settings(std::string("[remote]\n") + kServer +
                                           "model = \"qwen\"\nkey_env = \"K\"\ntime_limit_ms = 50\n"
                                           "pause_ms = 0\ntokens = 3\ncandidates = 2\n",
                                       "laya.toml");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->remote.is_on());
  EXPECT_EQ(settings->remote.model, "qwen");
  EXPECT_EQ(settings->remote.key_env, "K");
  EXPECT_EQ(settings->remote.time_limit.count(), 50);
  EXPECT_EQ(settings->remote.pause.count(), 0);
  EXPECT_EQ(settings->remote.tokens, 3u);
  EXPECT_EQ(settings->remote.candidates, 2u);
}

TEST(Settings, SayWhatIsWrongAndQuoteNoValue) {
  struct Case {
    std::string text, part;
  };
  const std::vector<Case> cases{
      {"[remote]\nurll = \"sk-secret\"\n", "line 2: [remote]: unknown setting; known: url, model"},
      {"[remot]\nurl = \"sk-secret\"\n", "line 1: unknown setting; known: remote"},
      {"remote = \"sk-secret\"\n", "must be a table"},
      {"[remote]\nurl = 3\n", "[remote] url must be a text"},
      {"[remote]\nurl = \"ftp://sk-secret\"\n", "[remote] url must begin with http"},
      {"[remote]\nurl = \"http://example.org/v1\"\n", "use https"},
      {"[remote]\ntime_limit_ms = 0\n", "from 1 to 60000"},
      {"[remote]\ntime_limit_ms = 1.5\n", "whole number"},
      {"[remote]\nkey_env = \"A\"\nkey_file = \"sk-secret\"\n", "both key_file and key_env"},
      {"[remote]\nkey_file = sk-secret\n", "line 2"},
      {std::string(kMaxSettingsBytes + 1, '#'), "more than 65536 bytes"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.part);
    const auto settings = parse_settings(each.text, "laya.toml");
    ASSERT_FALSE(settings);
    const std::string message = settings.error().message;
    EXPECT_TRUE(message.starts_with("laya.toml: ")) << message;
    EXPECT_NE(message.find(each.part), std::string::npos) << message;
    EXPECT_EQ(message.find("sk-secret"), std::string::npos) << message;
  }
}

TEST(Settings, TheKeyComesFromAFileOrTheEnvironment) {
  const base::TestFolder folder;
  Settings::Remote remote;
  remote.url = "https://example.org/v1/completions";
  EXPECT_EQ(remote_settings(remote, folder.path().string())->key, "");
  remote.key_file = "remote.key";
  const auto missing = remote_settings(remote, folder.path().string());
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("remote.key"), std::string::npos);
  std::ofstream(folder.file("remote.key")) << " sk-secret\n\n";
  EXPECT_EQ(remote_settings(remote, folder.path().string())->key, "sk-secret");
  std::ofstream(folder.file("remote.key")) << "\n";
  EXPECT_FALSE(remote_settings(remote, folder.path().string()));
  std::ofstream(folder.file("remote.key")) << "sk-secret\nsecond";
  const auto two_lines = remote_settings(remote, folder.path().string());
  ASSERT_FALSE(two_lines);
  EXPECT_EQ(two_lines.error().message.find("sk-secret"), std::string::npos);
  remote.key_file.clear();
  remote.key_env = "LAYA_TEST_NO_SUCH_KEY";
  const auto unset = remote_settings(remote, folder.path().string());
  ASSERT_FALSE(unset);
  EXPECT_NE(unset.error().message.find("LAYA_TEST_NO_SUCH_KEY"), std::string::npos);
}

TEST(Settings, NameTheHostOnly) {
  EXPECT_EQ(host_of("http://127.0.0.1:11434/v1/completions"), "127.0.0.1");
  EXPECT_EQ(host_of("https://[::1]:8080/x"), "[::1]");
  EXPECT_EQ(host_of("https://box.local"), "box.local");
  EXPECT_EQ(host_of(""), "");
}

// --- as a user meets it

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
  write_settings(std::string("[remote]\nmodel = \"big\"\n") + kServer);
  EXPECT_EQ(line()["on"], true);
  EXPECT_EQ(line()["server"], "big at 127.0.0.1");
  write_settings("[remote]\nurl = 1\n");
  EXPECT_EQ(line()["on"], false);
  EXPECT_NE(line()["detail"].get<std::string>().find("[remote] url"), std::string::npos);
}

}  // namespace
}  // namespace laya::apps

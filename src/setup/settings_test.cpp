#include "setup/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/test_folder.h"

namespace laya::setup {
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

}  // namespace
}  // namespace laya::setup

// For tests: a completion server on this machine, and what asks it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "remote/test_server.h"
#include "setup/remote_answers.h"

namespace laya::setup {

using remote::TestServer;

inline std::string answer_of(const std::vector<std::string>& texts) {
  nlohmann::json choices = nlohmann::json::array();
  for (const std::string& text : texts) choices.push_back({{"text", text}});
  return TestServer::ok(nlohmann::json{{"choices", choices}}.dump());
}

class RemoteAnswersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (LAYA_HAVE_CURL == 0) GTEST_SKIP() << "built without libcurl";
  }
  static std::unique_ptr<RemoteAnswers> asking(const TestServer& server, int pause_ms = 0,
                                               const predict::BlockList* blocked = nullptr) {
    remote::RemoteSettings settings;
    settings.url = server.url();
    settings.time_limit = std::chrono::milliseconds(20'000);
    settings.pause = std::chrono::milliseconds(pause_ms);
    auto made = RemoteAnswers::create(settings, blocked);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(made).value();
  }
};

}  // namespace laya::setup

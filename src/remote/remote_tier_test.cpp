#include "remote/remote_tier.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "remote/completion_answer.h"
#include "remote/test_server.h"

namespace laya::remote {
namespace {

class Remote : public testing::Test {
 protected:
  void SetUp() override {
    if (LAYA_HAVE_CURL == 0) {
      GTEST_SKIP() << "built without libcurl";
    }
  }
  static CompletionClient client(const TestServer& server, int ms = 5000) {
    RemoteSettings settings;
    settings.url = server.url();
    settings.model = "big";
    settings.key = "k1";
    settings.time_limit = std::chrono::milliseconds(ms);
    auto made = CompletionClient::create(settings);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
};

std::string answer_of(const std::string& text) {
  return TestServer::ok(R"({"choices":[{"text":")" + text + R"("}]})");
}

TEST_F(Remote, CompletesAndSendsWhatIsNeeded) {
  TestServer server([](const std::string&) { return answer_of("orrow at noon"); });
  CompletionClient remote = client(server);
  for (int i = 0; i < 3; ++i) {
    const auto got = remote.complete("see you tom");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, std::vector<std::string>{"orrow at noon"});
  }
  const std::string request = server.last_request();
  EXPECT_TRUE(request.starts_with("POST /v1/completions HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("Authorization: Bearer k1\r\n"), std::string::npos);
  EXPECT_NE(request.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(request.find("\"prompt\":\"see you tom\""), std::string::npos);
}

TEST_F(Remote, BadAnswersAreErrorsNotText) {
  struct Case {
    std::string name, reply;
    ErrorCode want;
  };
  const std::vector<Case> cases{
      {"no json", TestServer::ok("<html>secret</html>"), ErrorCode::Corrupt},
      {"cut off", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{\"choices\"",
       ErrorCode::Io},
      {"no http", "secret secret\r\n\r\n", ErrorCode::Io},
      {"status", "HTTP/1.1 503 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
       ErrorCode::Io},
      {"redirect",
       "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: "
       "close\r\n\r\n",
       ErrorCode::Io},
      {"huge", TestServer::ok(std::string(4 << 20, 'x')), ErrorCode::TooLarge},
      {"endless header", "HTTP/1.1 200 OK\r\nX: " + std::string(1 << 20, 'y'), ErrorCode::Io},
      {"empty", "", ErrorCode::Io},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    TestServer server([&](const std::string&) { return each.reply; });
    CompletionClient remote = client(server);
    const auto got = remote.complete("see you tom");
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, each.want) << got.error().message;
    EXPECT_EQ(got.error().message.find("secret"), std::string::npos);
    EXPECT_EQ(got.error().message.find("see you"), std::string::npos);
  }
}

TEST_F(Remote, NobodyThereIsAnError) {
  RemoteSettings settings;
  {
    TestServer gone([](const std::string&) { return std::string(); });
    settings.url = gone.url();
  }
  auto remote = CompletionClient::create(settings);
  ASSERT_TRUE(remote);
  const auto got = remote->complete("x");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::Io);
}

TEST_F(Remote, IsLimitedInTimeAndCanBeCancelled) {
  TestServer* self = nullptr;
  TestServer slow([&](const std::string&) {
    for (int i = 0; i < 200 && !self->stopping(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return answer_of("late");
  });
  self = &slow;
  {
    CompletionClient remote = client(slow, 80);
    const std::int64_t begin = base::monotonic_ns();
    const auto got = remote.complete("see");
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, ErrorCode::Timeout) << got.error().message;
    EXPECT_LT(base::monotonic_ns() - begin, 1'500'000'000);
  }
}

TEST_F(Remote, TierAnswersTheLatestQuestionOnly) {
  TestServer server([](const std::string& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::size_t at = request.find("\"prompt\":\"q");
    return answer_of("answer " + request.substr(at + 11, 1));
  });
  RemoteTier tier(client(server));
  std::vector<std::string> got;
  tier.ask(1, "q1");
  tier.ask(2, "q2");
  tier.ask(3, "q3");
  EXPECT_FALSE(tier.take(2, 0, &got));
  ASSERT_TRUE(tier.take(3, 20'000, &got)) << tier.last_error();
  EXPECT_EQ(got, std::vector<std::string>{"answer 3"});
  EXPECT_FALSE(tier.take(3, 0, &got));  // given once

  tier.ask(4, "q4");
  tier.cancel();
  EXPECT_FALSE(tier.take(4, 50, &got));
  tier.ask(5, "q5");
  ASSERT_TRUE(tier.take(5, 20'000, &got));
  EXPECT_EQ(got, std::vector<std::string>{"answer 5"});
}

// At each key a question, and a server that is asked about the last one only.
TEST_F(Remote, TierWaitsUntilTheTextStandsStill) {
  TestServer server([](const std::string&) { return answer_of("go on"); });
  RemoteTier tier(client(server), std::chrono::milliseconds(60));
  std::vector<std::string> got;
  for (std::uint64_t key = 1; key <= 5; ++key) {
    tier.ask(key, "typing");
  }
  ASSERT_TRUE(tier.take(5, 20'000, &got)) << tier.last_error();
  EXPECT_EQ(server.requests(), 1);
  // Taken back before it went out: nothing is sent.
  const std::size_t bytes = server.bytes();
  tier.ask(6, "secret");
  tier.cancel();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(server.bytes(), bytes);
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(Remote, TierWakesAFrontEnd) {
  TestServer server([](const std::string&) { return answer_of("go on"); });
  RemoteTier tier(client(server));
  pollfd what{tier.fd(), POLLIN, 0};
  ASSERT_GE(tier.fd(), 0);
  EXPECT_EQ(::poll(&what, 1, 0), 0);
  tier.ask(1, "typing");
  ASSERT_EQ(::poll(&what, 1, 20'000), 1);
  std::vector<std::string> got;
  EXPECT_TRUE(tier.take(1, 0, &got));
  EXPECT_EQ(::poll(&what, 1, 0), 0);
}

TEST_F(Remote, TierSaysWhyItFailed) {
  TestServer server([](const std::string&) { return TestServer::ok("nonsense"); });
  RemoteTier tier(client(server));
  std::vector<std::string> got;
  tier.ask(1, "q");
  EXPECT_FALSE(tier.take(1, 20'000, &got));
  EXPECT_NE(tier.last_error().find("choices"), std::string::npos);
}

TEST(RemoteClient, RefusesBadSettings) {
  RemoteSettings settings;
  settings.url = "http://example.org/v1/completions";
  EXPECT_FALSE(CompletionClient::create(settings));
}

}  // namespace
}  // namespace laya::remote

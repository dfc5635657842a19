#include <gtest/gtest.h>

#include "remote/completion_client.h"

namespace laya::remote {
namespace {

RemoteSettings at(std::string url) {
  RemoteSettings settings;
  settings.url = std::move(url);
  return settings;
}

TEST(RemoteSettings, MayBeThisMachineItsNetworkOrEncrypted) {
  for (const char* url :
       {"http://127.0.0.1:11434/v1/completions", "http://localhost/v1/completions",
        "http://LOCALHOST:1/x", "http://[::1]:8080/v1/completions", "http://192.168.1.7/v1",
        "http://10.0.0.2", "http://172.31.255.1/", "http://nas.local:80/v1", "http://box:8000/v1",
        "http://[fd00::1]/v1", "https://example.org/v1/completions"}) {
    const Status fits = check(at(url));
    EXPECT_TRUE(fits) << url << ": " << (fits ? "" : fits.error().message);
  }
}

TEST(RemoteSettings, NeverPlainHttpToStrangers) {
  for (const char* url :
       {"", "ftp://127.0.0.1/", "file:///etc/passwd", "http://example.org/v1", "http://8.8.8.8/",
        "http://172.32.0.1/", "http://192.169.0.1/", "http://127.0.0.1.example.org/",
        "http://user@127.0.0.1/", "http://127.0.0.1@example.org/", "http://", "http:///x",
        "http://[::2]/", "http://[::1", "http://[2001:db8::1]/", "http://local host/",
        "http://127.0.0.1/\nX: y", "http://1.2.3/", "http://127.0.0.256/"}) {
    const Status fits = check(at(url));
    ASSERT_FALSE(fits) << url;
    EXPECT_EQ(fits.error().code, ErrorCode::BadArgument);
  }
}

TEST(RemoteSettings, NoOtherNotationHidesAStranger) {
  for (const char* url : {"http://134744072/",
                          "http://0x08080808/",
                          "http://010.010.010.010/",
                          "http://8.526344/",
                          "http://0x8.8.8.8/",
                          "http://08.8.8.8/",
                          "http://127.1/",
                          "http://127.0.0.010/",
                          "http://2130706433/",
                          "http://%38.8.8.8/",
                          "http://localhost%2eexample.org/",
                          "http://ex%61mple/",
                          "http://[fc::1]/",
                          "http://[fd::1]/",
                          "http://[fe8::1]/",
                          "http://[::ffff:8.8.8.8]/",
                          "http://[fe80::1%25eth0]/",
                          "http://[fd00::1]x/",
                          "http://[fd00::1",
                          "http://127.0.0.1:0/",
                          "http://127.0.0.1:x/",
                          "http://127.0.0.1:99999/",
                          "http://127.0.0.1:80:90/",
                          "http://box\\example.org/",
                          "http://box,example/",
                          "http://127.0.0.1./",
                          "https://0x08080808/"}) {
    const Status fits = check(at(url));
    ASSERT_FALSE(fits) << url;
    EXPECT_EQ(fits.error().code, ErrorCode::BadArgument);
  }
  for (const char* url :
       {"http://[::ffff:127.0.0.1]/", "http://[FD00::1]:80/", "http://box-2_a/"}) {
    EXPECT_TRUE(check(at(url))) << url;
  }
}

TEST(RemoteSettings, LimitsAreChecked) {
  RemoteSettings settings = at("http://127.0.0.1/");
  settings.time_limit = std::chrono::milliseconds(0);
  EXPECT_NE(check(settings).error().message.find("time_limit_ms"), std::string::npos);
  settings.time_limit = std::chrono::milliseconds(100);
  settings.tokens = 65;
  EXPECT_FALSE(check(settings));
  settings.tokens = 8;
  settings.candidates = 0;
  EXPECT_FALSE(check(settings));
  settings.candidates = 3;
  settings.key = "a\r\nX: y";
  EXPECT_FALSE(check(settings));
  settings.key = "a";
  EXPECT_TRUE(check(settings));
}

}  // namespace
}  // namespace laya::remote

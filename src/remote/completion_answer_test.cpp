#include "remote/completion_answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace laya::remote {
namespace {

TEST(CompletionRequest, SaysWhatIsWantedAndIsAlwaysJson) {
  const auto json =
      nlohmann::json::parse(completion_request("qwen", "see you \"tom\n\xff\xe4", 8, 3));
  EXPECT_EQ(json["model"], "qwen");
  EXPECT_EQ(json["max_tokens"], 8);
  EXPECT_EQ(json["n"], 3);
  EXPECT_EQ(json["stream"], false);
  EXPECT_TRUE(json["prompt"].get<std::string>().starts_with("see you \"tom\n"));
}

TEST(ParseCompletions, TakesFirstLinesInOrder) {
  const auto got = parse_completions(
      R"({"id":"x","choices":[{"text":"orrow at noon\nmore","index":0},{"text":""},{"text":"orrow at noon"},
          {"text":"明天见"},{"text":"   "}]})",
      5);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, (std::vector<std::string>{"orrow at noon", "明天见"}));
  EXPECT_EQ(parse_completions(R"({"choices":[{"text":"a"},{"text":"b"},{"text":"c"}]})", 2)->size(),
            2u);
  EXPECT_TRUE(parse_completions(R"({"choices":[]})", 2)->empty());
}

TEST(ParseCompletions, ShowsNoControlCharactersAndNoHalves) {
  std::string long_one(2 * kMaxContinuationBytes, 'x');
  long_one.replace(kMaxContinuationBytes - 1, 3, "我");
  const std::string body =
      nlohmann::json{{"choices", nlohmann::json::array({nlohmann::json{{"text", "a\tb"}},
                                                        nlohmann::json{{"text", "a\x1b[2J"}},
                                                        nlohmann::json{{"text",
                                                                        "a\xe2\x80\xae"
                                                                        "b"}},
                                                        nlohmann::json{{"text", long_one}}})}}
          .dump();
  const auto got = parse_completions(body, 5);
  ASSERT_TRUE(got);
  ASSERT_EQ(got->size(), 1u);
  EXPECT_EQ((*got)[0].size(), kMaxContinuationBytes - 1);
  EXPECT_TRUE(base::is_valid_utf8((*got)[0]));
  const auto broken = parse_completions("{\"choices\":[{\"text\":\"a\xff\"}]}", 5);
  EXPECT_TRUE(!broken || broken->empty());
}

TEST(ParseCompletions, ShowsNothingThatIsNotSeen) {
  for (const char32_t c : {0x0085, 0x00AD, 0x061C, 0x115F,  0x180E,  0x200B,  0x200C, 0x200D,
                           0x200E, 0x2028, 0x2029, 0x202A,  0x2060,  0x2064,  0x2066, 0x3164,
                           0xFE0F, 0xFEFF, 0xFFA0, 0xE0001, 0xE0061, 0xE007F, 0x1D173}) {
    std::string text = "or";
    base::append_utf8(c, text);
    text += "row";
    const auto got = parse_completions(
        nlohmann::json{{"choices", nlohmann::json::array({nlohmann::json{{"text", text}}})}}.dump(),
        5);
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->empty()) << std::hex << static_cast<unsigned>(c);
  }
  const auto kept =
      parse_completions(R"({"choices":[{"text":"很好 👨‍👩‍👧 ❤️"}]})", 5);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->size(), 1u) << "joiners that join something";
}

TEST(ParseCompletions, RefusesEverythingElseWithoutQuotingIt) {
  for (const std::string& body :
       {std::string(), std::string("secret"), std::string("[]"), std::string("{}"),
        std::string("null"), std::string(R"({"choices":{}})"), std::string(R"({"choices":[1]})"),
        std::string(R"({"choices":[{"text":1}]})"),
        std::string(R"({"choices":[{"message":"secret"}]})"),
        std::string(R"({"choices":[{"text":"secret"})"), std::string(20000, '['),
        std::string(kMaxAnswerBytes + 1, ' ')}) {
    const auto got = parse_completions(body, 3);
    ASSERT_FALSE(got) << body.substr(0, 40);
    EXPECT_EQ(got.error().message.find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace laya::remote

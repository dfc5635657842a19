#include "format/metadata.h"

#include <gtest/gtest.h>

#include <string>

namespace laya::format {
namespace {

TEST(ParseJson, AcceptsJson) {
  const auto parsed = parse_json(R"({"a": [1, -2, 3.5, "你好 \u00e9 [[[{{{"], "b": {"c": null}})");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ((*parsed)["a"][3], "你好 é [[[{{{");
}

TEST(ParseJson, RefusesWhatIsNotAndSaysWhere) {
  struct Case {
    const char* name;
    std::string in;
    const char* want;
  };
  const Case cases[] = {
      {"empty", "", "not JSON at byte"},
      {"cut", R"({"a": 1)", "not JSON at byte"},
      {"trailing", "{} x", "not JSON at byte 4"},
      {"comment", "{/* no */}", "not JSON at byte"},
      {"NaN", R"({"a": NaN})", "not JSON at byte 7"},
      {"number beyond double", R"({"a": 1e999})", "not JSON"},
      {"half UTF-8", "{\"a\": \"\xE4\xBD\"}", "not JSON at byte"},
      {"control character", "{\"a\": \"\x01\"}", "not JSON at byte"},
      {"key twice", R"({"a": 1, "a": 2})", "a key twice"},
      {"key twice inside", R"({"b": [{"a": 1, "a": 2}]})", "a key twice"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto parsed = parse_json(c.in);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, ErrorCode::Corrupt);
    EXPECT_NE(parsed.error().message.find(c.want), std::string::npos) << parsed.error().message;
  }
  EXPECT_TRUE(parse_json(R"([{"a": 1}, {"a": 2}])")) << "the same key in two objects is fine";
}

TEST(ParseJson, LimitsDepthWithoutRecursing) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(32)));
  const auto deep = parse_json(nested(33));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().message, "JSON nested deeper than 32 levels at byte 32");
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')));
  EXPECT_TRUE(
      parse_json("{\"a\": \"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"}"));
}

TEST(JsonFields, NameTheKeyAndTheLimit) {
  const auto object = parse_json(R"({"n": 5, "minus": -5, "half": 0.5, "text": "x"})").value();
  EXPECT_EQ(json_integer(object, "n", 1, 5, "config").value(), 5u);
  EXPECT_EQ(json_integer(object, "n", 1, 4, "config").error().message,
            "config: \"n\" is 5, must be 1 to 4");
  EXPECT_EQ(json_integer(object, "minus", 0, 9, "config").error().message,
            "config: \"minus\" is negative");
  EXPECT_FALSE(json_integer(object, "half", 0, 9, "config"));
  EXPECT_FALSE(json_integer(object, "text", 0, 9, "config"));
  EXPECT_FALSE(json_integer(object, "missing", 0, 9, "config"));
  EXPECT_FALSE(json_integer(nlohmann::json::array(), "n", 0, 9, "config")) << "not even an object";
  EXPECT_EQ(json_number(object, "half", "config").value(), 0.5);
  EXPECT_FALSE(json_number(object, "text", "config"));
  EXPECT_EQ(json_string(object, "text", "config").value(), "x");
  EXPECT_FALSE(json_string(object, "n", "config"));
}

}  // namespace
}  // namespace laya::format

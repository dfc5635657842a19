#include "text/script.h"

#include <gtest/gtest.h>

namespace laya::text {
namespace {

TEST(Script, NamesEachKind) {
  struct Case {
    char32_t code_point;
    Script want;
  };
  for (const Case& c :
       {Case{U'a', Script::Latin},    {U'Z', Script::Latin},        {U'é', Script::Latin},
        {U'×', Script::Punctuation},  {U'7', Script::Digit},        {U'７', Script::Digit},
        {U'我', Script::Han},         {U'々', Script::Han},         {U'𠮷', Script::Han},
        {U'，', Script::Punctuation}, {U'。', Script::Punctuation}, {U'.', Script::Punctuation},
        {U'$', Script::Punctuation},  {U' ', Script::Space},        {U'\n', Script::Space},
        {U'\t', Script::Space},       {U'　', Script::Space},       {U'か', Script::Other},
        {U'ж', Script::Other},        {U'👍', Script::Other},        {U'\0', Script::Other},
        {0xFFFD, Script::Other}}) {
    EXPECT_EQ(script_of(c.code_point), c.want) << std::hex << static_cast<unsigned>(c.code_point);
  }
}

TEST(Script, FindsTheWordBeingTyped) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : {Case{"", ""},
                        {"hel", "hel"},
                        {"say hel", "hel"},
                        {"hello ", ""},
                        {"don't", "don't"},
                        {"don’t", "don’t"},
                        {"'tis", "tis"},
                        {"well-kn", "well-kn"},
                        {"--help", "help"},
                        {"a--b", "b"},
                        {"我hel", "hel"},
                        {"hel我", ""},
                        {"v2", "v2"},
                        {"ok,", ""},
                        {"caf\xC3\xA9", "café"},
                        {"x\xFF", ""}}) {
    EXPECT_EQ(trailing_word(c.text), c.want) << c.text;
  }
}

TEST(Script, FindsTheFirstWordToAccept) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : {Case{"", ""},
                        {"see you soon", "see "},
                        {" see you", " see "},
                        {"you", "you"},
                        {"don't go", "don't "},
                        {"it's", "it's"},
                        {"一起去公园", "一起去公园"},
                        {"吧。好", "吧"},
                        {"。好", "。"},
                        {", and", ", "},
                        {"v2 ok", "v2 "},
                        {"well-known x", "well-known "},
                        {"end- x", "end"},
                        {"  ", "  "},
                        {"👍👍 x", "👍👍 "}}) {
    EXPECT_EQ(std::string_view(c.text).substr(0, first_word_length(c.text)), c.want) << c.text;
  }
}

TEST(Script, FindsTheLastWordToErase) {
  struct Case {
    const char* text;
    const char* want;
  };
  for (const Case& c : {Case{"", ""},
                        {"say hello", "hello"},
                        {"say hello  ", "hello  "},
                        {"我们", "们"},
                        {"ok!", "!"},
                        {"   ", "   "},
                        {"don't", "don't"}}) {
    const std::string_view text = c.text;
    EXPECT_EQ(text.substr(text.size() - last_word_length(text)), c.want) << c.text;
  }
}

TEST(Script, KnowsWhereASentenceStarts) {
  for (const char* text :
       {"", "  ", "Done. ", "Done.", "好。", "什么？ ", "line\n", "wow!", "and…"}) {
    EXPECT_TRUE(at_sentence_start(text)) << text;
  }
  for (const char* text : {"a", "a, ", "我", "3", "\xFF", "(", "，"}) {
    EXPECT_FALSE(at_sentence_start(text)) << text;
  }
}

}  // namespace
}  // namespace laya::text

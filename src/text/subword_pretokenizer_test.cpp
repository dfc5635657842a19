#include "text/subword_pretokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "text/test_subwords.h"

namespace laya::text {
namespace {

std::string cut(PreTokenizer kind, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const PreToken word = next_pretoken(kind, text);
    out += (out.empty() ? "" : "|") + std::string(text.substr(0, word.bytes));
    text.remove_prefix(word.bytes);
  }
  return out;
}

TEST(SubwordPretokenizer, CutsAsTheExpressionsDo) {
  struct Case {
    const char* text;
    const char* gpt2;
    const char* smollm;
    const char* llama3;
    const char* qwen2;
  };
  // By Python's `regex` module on the expressions at the top of subword_pretokenizer.cpp.
  const Case cases[] = {
      {"I'll go", "I|'ll| go", "I|'ll| go", "I|'ll| go", "I|'ll| go"},
      {"WE'RE", "WE|'|RE", "WE|'|RE", "WE|'RE", "WE|'RE"},
      {"a 1234 b", "a| 1234| b", "a| |1|2|3|4| b", "a| |123|4| b", "a| |1|2|3|4| b"},
      {"a  b", "a| | b", "a| | b", "a| | b", "a| | b"},
      {"a  1", "a| | 1", "a|  |1", "a| | |1", "a| | |1"},
      {"a\n\nb", "a|\n|\n|b", "a|\n|\n|b", "a|\n\n|b", "a|\n\n|b"},
      {"a \n b", "a| \n| b", "a| \n| b", "a| \n| b", "a| \n| b"},
      {"!!\n\nx", "!!|\n|\n|x", "!!|\n|\n|x", "!!\n\n|x", "!!\n\n|x"},
      {"(hello)", "(|hello|)", "(|hello|)", "(hello|)", "(hello|)"},
      {"\tx", "\t|x", "\t|x", "\tx", "\tx"},
      {" ?!", " ?!", " ?!", " ?!", " ?!"},
      {"x  ", "x|  ", "x|  ", "x|  ", "x|  "},
      {" \t\n \tz", " \t\n |\t|z", " \t\n |\t|z", " \t\n| |\tz", " \t\n| |\tz"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    EXPECT_EQ(cut(PreTokenizer::Gpt2, c.text), c.gpt2);
    EXPECT_EQ(cut(PreTokenizer::SmolLm, c.text), c.smollm);
    EXPECT_EQ(cut(PreTokenizer::Llama3, c.text), c.llama3);
    EXPECT_EQ(cut(PreTokenizer::Qwen2, c.text), c.qwen2);
  }
}

TEST(SubwordPretokenizer, AClosedCutStaysWhateverIsAppended) {
  std::mt19937 random(7);
  std::size_t closed = 0;
  std::size_t open = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = random_text(random, 6);
    const std::string longer = text + random_text(random, 3);
    for (const PreTokenizer kind :
         {PreTokenizer::Gpt2, PreTokenizer::SmolLm, PreTokenizer::Llama3, PreTokenizer::Qwen2}) {
      if (text.empty()) {
        continue;
      }
      const PreToken word = next_pretoken(kind, text);
      ASSERT_GT(word.bytes, 0u);
      ASSERT_LE(word.bytes, text.size());
      if (word.closed) {
        EXPECT_EQ(next_pretoken(kind, longer).bytes, word.bytes);
        ++closed;
      } else {
        ++open;
      }
    }
  }
  EXPECT_GT(closed, 30000u);  // neither answer is given always
  EXPECT_GT(open, 3000u);
}

}  // namespace
}  // namespace laya::text

// Token for token what Hugging Face's `tokenizers` gives (testdata/tokenizers/README.md).
#include <string>
#include <vector>

#include "text/test_subwords.h"

namespace laya::text {
namespace {

void expect_golden(const SubwordTokenizer& tokenizer, const std::string& family) {
  const std::vector<std::string> texts = golden_strings();
  const std::vector<std::vector<TokenId>> want = golden_ids(family);
  ASSERT_EQ(texts.size(), 260u);
  ASSERT_EQ(want.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    SCOPED_TRACE(family + ", string " + std::to_string(i) + ": " + texts[i]);
    EXPECT_EQ(tokenizer.encode(texts[i]), want[i]);
  }
}

TEST(SubwordGolden, TokenizerJsonEqualsHuggingFace) {
  for (const std::string& family : kAllFamilies) {
    expect_golden(family_tokenizer(family), family);
  }
}

TEST(SubwordGolden, ScoresAndTypesOfAGgufEqualHuggingFace) {
  for (const std::string family : {"gemma", "llama2"}) {
    expect_golden(made(SubwordTokenizer::from_parts(family_parts(family))), family);
  }
}

TEST(SubwordGolden, TheBlobGivesTheSameTokenizer) {
  for (const std::string& family : kAllFamilies) {
    const std::vector<std::byte> blob = family_tokenizer(family).serialize();
    const SubwordTokenizer again = made(SubwordTokenizer::parse(blob));
    expect_golden(again, family);
    EXPECT_EQ(again.serialize(), blob);
    EXPECT_EQ(again.bos(), family_tokenizer(family).bos());
    EXPECT_EQ(again.eos(), family_tokenizer(family).eos());
  }
}

TEST(SubwordGolden, FamiliesDifferWhereTheirRulesDo) {
  // Guards the comparison itself: with another family's rules the ids must not fit.
  std::size_t equal = 0;
  const std::vector<std::string> texts = golden_strings();
  const std::vector<std::vector<TokenId>> other = golden_ids("gpt2");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    equal += family_tokenizer("smollm").encode(texts[i]) == other[i] ? 1u : 0u;
  }
  EXPECT_LT(equal, texts.size() / 10);
}

TEST(SubwordGolden, ReadsTheSpecialTokens) {
  const SubwordTokenizer& llama2 = family_tokenizer("llama2");
  ASSERT_NE(llama2.bos(), kNoToken);
  EXPECT_EQ(llama2.control_name(llama2.bos()), "<s>");
  EXPECT_EQ(llama2.control_name(llama2.eos()), "</s>");
  EXPECT_EQ(llama2.bytes(llama2.bos()), "");
  EXPECT_EQ(llama2.kind(llama2.bos()), SubwordTokenKind::Control);
  EXPECT_FALSE(llama2.add_bos());

  SubwordSpecials specials;
  specials.bos = 5;
  specials.eos = 6;
  specials.add_bos = true;
  const SubwordTokenizer told =
      made(SubwordTokenizer::from_tokenizer_json(tokenizer_testdata("gpt2.json"), specials));
  EXPECT_EQ(told.bos(), 5u);
  EXPECT_EQ(told.eos(), 6u);
  EXPECT_TRUE(told.add_bos());
}

}  // namespace
}  // namespace laya::text

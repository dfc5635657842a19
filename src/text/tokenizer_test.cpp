#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "text/chunk.h"
#include "text/test_vocabulary.h"

namespace laya::text {
namespace {

TEST(Tokenizer, CutsWordsHanAndBytes) {
  struct Case {
    const char* name;
    std::string text;
    const char* want;
  };
  const Case cases[] = {
      {"words carry their space", "the time is now", "the |time |is |now|"},
      {"Han is one piece each", "我们今天", "我|们|今|天|"},
      {"Han with space", "我 们", "我| |们|"},
      {"newline", "yes\nno\n", "yes|⏎|no|⏎|"},
      {"symbols", "mail <EMAIL> or <URL>.", "mail |<EMAIL>| |or |<URL>|.|"},
      {"symbol inside a run", "x<NUM>y", "x|<NUM>|y|"},
      {"rare ideograph in bytes", "𪚥", "<F0>|<AA>|<9A>|<A5>|"},
      {"literal U+2581", "a▁b", "a|<E2>|<96>|<81>|b|"},
      {"ill-formed", "a\xC3(", "a|<C3>|(|"},
      {"tab", "\t", "<09>|"},
      {"empty", "", ""},
  };
  const Tokenizer& tokenizer = shipped_tokenizer();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(shown(tokenizer, tokenizer.encode(c.text)), c.want);
  }
}

TEST(Tokenizer, NeverProducesUnknownBeginOrTheNewlineByte) {
  const Tokenizer& tokenizer = shipped_tokenizer();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  for (const TokenId id : tokenizer.encode(all + "<unk><s></s>" + all)) {
    EXPECT_NE(tokenizer.vocabulary().type(id), PieceType::Unknown);
    EXPECT_NE(tokenizer.vocabulary().type(id), PieceType::Begin);
    EXPECT_NE(id, tokenizer.vocabulary().byte_id('\n'));
  }
}

/// Any bytes: random ones, and a mix of the things that are special somewhere.
std::string random_text(std::mt19937& random) {
  static const std::string kParts[] = {" ",
                                       "  ",
                                       "\n",
                                       "\t",
                                       "\r\n",
                                       "▁",
                                       "the",
                                       "hello ",
                                       "Laya",
                                       "我们",
                                       "的",
                                       "，",
                                       "。 ",
                                       "<EMAIL>",
                                       "<URL",
                                       "<NUM> ",
                                       "<0x41>",
                                       "</s>",
                                       "👨‍👩‍👧",
                                       "🇨🇳",
                                       "é",
                                       "e\xCC\x81",
                                       "\xE4\xBD",
                                       "\xA0",
                                       "\xF0\x9F",
                                       std::string(1, '\0'),
                                       "12.5%",
                                       "don't",
                                       "𪚥",
                                       "　",
                                       "ｶﾅ",
                                       "안녕"};
  std::string text;
  const std::size_t parts = random() % 24;
  for (std::size_t i = 0; i < parts; ++i) {
    if (random() % 3 == 0) {
      text += static_cast<char>(random());
    } else {
      text += kParts[random() % std::size(kParts)];
    }
  }
  return text;
}

TEST(Tokenizer, RoundTripsAnyBytesAndKeepsTheirOffsets) {
  const Tokenizer& tokenizer = shipped_tokenizer();
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    const std::string text = random_text(random);
    Tokens tokens;
    tokenizer.encode(text, tokens, 10);
    ASSERT_EQ(tokens.ids, tokenizer.encode(text));
    ASSERT_EQ(tokenizer.decode(tokens.ids), text);
    ASSERT_EQ(tokens.ids.size(), tokens.ends.size());
    std::uint32_t start = 10;
    for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
      ASSERT_EQ(tokenizer.vocabulary().text(tokens.ids[i]),
                text.substr(start - 10, tokens.ends[i] - start));
      start = tokens.ends[i];
    }
    ASSERT_EQ(start, text.size() + 10);
  }
}

TEST(Tokenizer, RoundTripsLongRunsWithoutSpaces) {
  const Tokenizer& tokenizer = shipped_tokenizer();
  for (const char* unit : {"a", "é", "👍", "\xFF", "ab", "カ"}) {
    std::string text;
    while (text.size() < 3000) {
      text += unit;
    }
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text) << unit;
  }
}

TEST(Tokenizer, FindsTheLikeliestCut) {
  // Against every possible cut of short words, by exhaustive search.
  const Tokenizer& tokenizer = shipped_tokenizer();
  const Vocabulary& vocabulary = tokenizer.vocabulary();
  const auto score_of = [&](const std::vector<TokenId>& ids) {
    float sum = 0;
    for (const TokenId id : ids) sum += vocabulary.score(id);
    return sum;
  };
  for (const std::string word :
       {"unbelievable ", "tokenizer ", "Laya ", "zxqj", "sooo ", "2024 "}) {
    SCOPED_TRACE(word);
    float best = -1e9f;
    const auto search = [&](auto&& self, std::size_t at, float sum) -> void {
      if (at == word.size()) {
        best = std::max(best, sum);
        return;
      }
      tokenizer.trie().for_each_prefix(std::string_view(word).substr(at),
                                       [&](TokenId id, std::size_t length) {
                                         self(self, at + length, sum + vocabulary.score(id));
                                       });
    };
    search(search, 0, 0);
    EXPECT_NEAR(score_of(tokenizer.encode(word)), best, 1e-3);
  }
}

TEST(Tokenizer, SkipsIdsOutsideTheVocabularyWhenDecoding) {
  const Tokenizer& tokenizer = shipped_tokenizer();
  const TokenId ids[] = {1, tokenizer.vocabulary().find("the "), 99999, kNoToken, 2};
  EXPECT_EQ(tokenizer.decode(ids), "the \n");
}

TEST(Tokenizer, EncodesAMegabyteWellWithinASecond) {
  const Tokenizer& tokenizer = shipped_tokenizer();
  std::string text;
  while (text.size() < (1u << 20)) {
    text +=
        "The quick brown fox said: 今天的天气很好，我们一起去公园吧。 aaaaaaaaaaaaaaaaaaaaaa "
        "12,345\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const std::vector<TokenId> ids = tokenizer.encode(text);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(tokenizer.decode(ids), text);
  EXPECT_LT(took.count(), 1.0);  // measured 0.02 s; sanitizers and a busy machine are allowed for
}

}  // namespace
}  // namespace laya::text

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "text/test_subwords.h"

namespace laya::text {
namespace {

/// A part of the tokens of `tokenizer`, with what must be kept.
std::vector<TokenId> some_of(const SubwordTokenizer& tokenizer, unsigned percent,
                             std::mt19937& random) {
  std::vector<TokenId> wanted;
  for (TokenId id = 0; id < tokenizer.size(); ++id) {
    if (random() % 100 < percent) {
      wanted.push_back(id);
    }
  }
  return tokenizer.required_by(wanted);
}

TEST(SubwordPrune, TextOfKeptTokensIsCutAsBefore) {
  std::mt19937 random(17);
  std::size_t compared = 0;
  for (const std::string& family : kAllFamilies) {
    const SubwordTokenizer& whole = family_tokenizer(family);
    for (const unsigned percent : {10u, 50u, 90u}) {
      const std::vector<TokenId> kept = some_of(whole, percent, random);
      const SubwordTokenizer fewer = made(whole.pruned(kept));
      ASSERT_EQ(fewer.size(), kept.size());
      std::vector<std::string> texts = golden_strings();
      for (int i = 0; i < 300; ++i) {
        // Kept tokens in any order: text whose own cut may be another, and often is the same.
        std::string text;
        for (int k = 0; k < 6; ++k) {
          text += whole.bytes(kept[random() % kept.size()]);
        }
        texts.push_back(text);
        texts.push_back(random_text(random, 4));
      }
      for (const std::string& text : texts) {
        SCOPED_TRACE(family + ": " + text);
        const std::vector<TokenId> before = whole.encode(text);
        const std::vector<TokenId> after = fewer.encode(text);
        ASSERT_EQ(fewer.decode(after), whole.normalized(text));
        const bool all_kept = std::all_of(before.begin(), before.end(), [&](TokenId id) {
          return std::binary_search(kept.begin(), kept.end(), id);
        });
        if (!all_kept) {
          continue;
        }
        ++compared;
        ASSERT_EQ(after.size(), before.size());
        for (std::size_t i = 0; i < after.size(); ++i) {
          ASSERT_EQ(kept[after[i]], before[i]);
        }
      }
    }
  }
  EXPECT_GT(compared, 5000u);
}

TEST(SubwordPrune, WithAllTokensNothingChanges) {
  for (const std::string& family : kAllFamilies) {
    const SubwordTokenizer& whole = family_tokenizer(family);
    std::vector<TokenId> kept(whole.size());
    for (TokenId id = 0; id < kept.size(); ++id) {
      kept[id] = id;
    }
    EXPECT_EQ(made(whole.pruned(kept)).serialize(), whole.serialize());
  }
}

TEST(SubwordPrune, KeepsRowsBytesAndSpecialTokens) {
  std::mt19937 random(19);
  for (const std::string& family : kAllFamilies) {
    SCOPED_TRACE(family);
    const SubwordTokenizer& whole = family_tokenizer(family);
    const std::vector<TokenId> kept = some_of(whole, 30, random);
    const SubwordTokenizer fewer = made(whole.pruned(kept));
    for (TokenId row = 0; row < fewer.size(); ++row) {
      ASSERT_EQ(fewer.bytes(row), whole.bytes(kept[row]));
      ASSERT_EQ(fewer.kind(row), whole.kind(kept[row]));
      ASSERT_EQ(fewer.control_name(row), whole.control_name(kept[row]));
    }
    ASSERT_NE(fewer.bos(), kNoToken);
    EXPECT_EQ(kept[fewer.bos()], whole.bos());
    EXPECT_EQ(kept[fewer.eos()], whole.eos());
    for (const TokenId row : fewer.with_prefix("")) {
      ASSERT_LT(row, fewer.size());  // tokens without a row are nobody's business
    }
  }
}

TEST(SubwordPrune, ALostTokenIsSpelledByWhatItWasMergedFrom) {
  const SubwordTokenizer& whole = family_tokenizer("gpt2");
  const TokenId the = whole.find(" the");
  ASSERT_NE(the, kNoToken);
  std::vector<TokenId> kept;
  for (TokenId id = 0; id < whole.size(); ++id) {
    if (id != the) {
      kept.push_back(id);
    }
  }
  const SubwordTokenizer fewer = made(whole.pruned(whole.required_by(kept)));
  const std::vector<TokenId> ids = fewer.encode("in the sea");
  EXPECT_EQ(fewer.decode(ids), "in the sea");
  std::string joined;
  for (const TokenId id : ids) {
    joined += std::string(fewer.bytes(id)) + "|";
  }
  EXPECT_TRUE(joined.find("| t|he|") != std::string::npos ||
              joined.find("| th|e|") != std::string::npos)
      << joined;
}

TEST(SubwordPrune, TheBlobKeepsTokensWithoutARow) {
  std::mt19937 random(23);
  for (const std::string& family : kAllFamilies) {
    SCOPED_TRACE(family);
    const SubwordTokenizer& whole = family_tokenizer(family);
    const SubwordTokenizer fewer = made(whole.pruned(some_of(whole, 20, random)));
    const SubwordTokenizer again = made(SubwordTokenizer::parse(fewer.serialize()));
    for (const std::string& text : golden_strings()) {
      EXPECT_EQ(again.encode(text), fewer.encode(text));
    }
  }
}

TEST(SubwordPrune, PruningTwiceIsPruningOnce) {
  std::mt19937 random(29);
  for (const std::string& family : kAllFamilies) {
    SCOPED_TRACE(family);
    const SubwordTokenizer& whole = family_tokenizer(family);
    const std::vector<TokenId> first = some_of(whole, 60, random);
    const SubwordTokenizer half = made(whole.pruned(first));
    const std::vector<TokenId> second = some_of(half, 60, random);
    std::vector<TokenId> both;
    for (const TokenId row : second) {
      both.push_back(first[row]);
    }
    const SubwordTokenizer twice = made(half.pruned(second));
    const SubwordTokenizer once = made(whole.pruned(both));
    for (const std::string& text : golden_strings()) {
      EXPECT_EQ(twice.decode(twice.encode(text)), once.decode(once.encode(text)));
      EXPECT_EQ(twice.encode(text), once.encode(text));
    }
  }
}

TEST(SubwordPrune, RefusesWhatCannotSpellEveryText) {
  const SubwordTokenizer& whole = family_tokenizer("gemma");
  const auto refused = [&](std::vector<TokenId> kept, const std::string& what) {
    const auto result = whole.pruned(kept);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::BadArgument);
    EXPECT_NE(result.error().message.find(what), std::string::npos) << result.error().message;
  };
  refused({}, "lacks");
  refused({5, 4}, "kept[1]");
  refused({5, 5}, "kept[1]");
  refused({static_cast<TokenId>(whole.size())}, "kept[0]");
  std::vector<TokenId> kept = whole.required_by({});
  kept.erase(kept.begin() + 100);
  refused(kept, "lacks 1 ");
}

}  // namespace
}  // namespace laya::text

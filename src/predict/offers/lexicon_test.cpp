#include "predict/offers/lexicon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "predict/offers/lexicon_source.h"
#include "predict/offers/lexicon_tables.h"

namespace laya::predict {
namespace {

std::vector<std::string> completions(const Lexicon& lexicon, std::string_view prefix) {
  std::array<Completion, 4> best;
  std::vector<std::string> words;
  const std::size_t count = lexicon.complete(prefix, best);
  for (std::size_t i = 0; i < count; ++i) {
    words.emplace_back(best[i].key());
  }
  return words;
}

class LexiconTest : public testing::Test {
 protected:
  LexiconTest() {
    auto made = LexiconTables::make(entries_, 5);
    EXPECT_TRUE(made);
    tables_ = std::move(*made);
    auto lexicon = tables_.lexicon();
    EXPECT_TRUE(lexicon) << lexicon.error().message;
    lexicon_ = std::move(*lexicon);
  }

  const std::vector<LexiconEntry> entries_ = {
      {"the", 100, false}, {"there", 30, false}, {"then", 40, false}, {"London", 5, false},
      {"NASA", 2, false},  {"iPhone", 3, false}, {"thence", 1, true}, {"march", 4, false},
      {"March", 2, false}, {"café", 1, false},   {"don't", 9, false}, {"theory", 2, false},
      {"dog", 7, false},   {"dogs", 3, false},   {"a", 50, false},
  };
  LexiconTables tables_;
  Lexicon lexicon_;
};

TEST_F(LexiconTest, FindsEveryWordAndNothingElse) {
  EXPECT_EQ(lexicon_.size(), entries_.size() - 1);  // march and March are one
  for (const char* word : {"the", "there", "london", "nasa", "iphone", "café", "don't", "a"}) {
    EXPECT_NE(lexicon_.find(word), Lexicon::kNoWord) << word;
  }
  for (const char* word : {"", "th", "thes", "lond", "b", "zebra", "London"}) {
    EXPECT_EQ(lexicon_.find(word), Lexicon::kNoWord) << word;
  }
}

TEST_F(LexiconTest, FindsEveryWordOfManyBlocks) {
  std::vector<LexiconEntry> many;
  for (int i = 0; i < 5000; ++i) {
    std::string word;
    for (int rest = i * 7919 + 1; rest > 0; rest /= 26) {
      word += static_cast<char>('a' + rest % 26);
    }
    many.push_back({word, 1.0 + i, false});
  }
  const auto tables = LexiconTables::make(many, 1);
  ASSERT_TRUE(tables);
  const auto lexicon = tables->lexicon();
  ASSERT_TRUE(lexicon);
  for (const LexiconEntry& entry : many) {
    const std::uint32_t word = lexicon->find(entry.written);
    ASSERT_NE(word, Lexicon::kNoWord) << entry.written;
    EXPECT_NEAR(lexicon->log_prob(word), std::log(entry.weight / 12502501.0), 0.05);
  }
}

TEST_F(LexiconTest, KnowsPossessivesAndShortForms) {
  EXPECT_TRUE(lexicon_.is_word("dog's"));
  EXPECT_TRUE(lexicon_.is_word("dogs'"));
  EXPECT_TRUE(lexicon_.is_word("london's"));
  EXPECT_FALSE(lexicon_.is_word("dgo's"));
  EXPECT_FALSE(lexicon_.is_word("'s"));
}

TEST_F(LexiconTest, CompletesTheMostFrequentFirstAndNeverWhatIsSilent) {
  EXPECT_EQ(completions(lexicon_, "the"), (std::vector<std::string>{"then", "there", "theory"}));
  EXPECT_EQ(completions(lexicon_, "thenc"), std::vector<std::string>{});
  EXPECT_EQ(completions(lexicon_, "x"), std::vector<std::string>{});
  EXPECT_EQ(completions(lexicon_, "dog"), std::vector<std::string>{"dogs"});
}

TEST_F(LexiconTest, WritesWordsAsPeopleDo) {
  const auto form = [&](std::string_view key) {
    std::array<char, 40> bytes;
    return std::string(bytes.data(), lexicon_.write_form(lexicon_.find(key), key, bytes));
  };
  EXPECT_EQ(form("the"), "the");
  EXPECT_EQ(form("london"), "London");
  EXPECT_EQ(form("nasa"), "NASA");
  EXPECT_EQ(form("iphone"), "iPhone");
  EXPECT_EQ(form("march"), "march");  // the commoner form
}

TEST_F(LexiconTest, FindsEnglishLikelierThanKeysHitAtRandom) {
  EXPECT_GT(lexicon_.log_spelling("thent"), lexicon_.log_spelling("xqzvk"));
}

TEST_F(LexiconTest, RefusesDamagedTablesByName) {
  for (const auto& [name, bytes] : tables_.blobs()) {
    if (name == "lexicon.written_text" || bytes.empty()) {
      continue;
    }
    const auto lexicon = Lexicon::from_blobs(
        [&, cut = name](std::string_view wanted) {
          const auto blob = tables_.blob(wanted);
          return wanted == cut ? blob.first(blob.size() - 1) : blob;
        },
        "file");
    ASSERT_FALSE(lexicon) << name;
    EXPECT_NE(lexicon.error().message.find("lexicon."), std::string::npos);
    EXPECT_TRUE(lexicon.error().message.starts_with("file"));
  }
}

}  // namespace
}  // namespace laya::predict

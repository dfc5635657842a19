#include "train/vocabulary/vocabulary_train.h"

#include <gtest/gtest.h>

#include "text/tokenizer.h"
#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

Mixture mixture_of(const base::TestFolder& folder) {
  std::string text;
  const char* words[] = {"meeting", "tomorrow", "station", "morning", "please",
                         "before",  "lunch",    "report",  "weather"};
  for (int i = 0; i < 400; ++i) {
    text += std::string(words[i % 9]) + " " + words[(i * 7 + 2) % 9] + " at " + std::to_string(i) +
            ", <NUM> " + words[i % 5] + ".\n";
  }
  write_text(folder.file("en.txt"), text);
  std::string chinese;
  for (int i = 0; i < 40; ++i) chinese += "我在家吃饭了，明天 review 一下。\n";
  chinese += "罕\n";
  write_text(folder.file("zh.txt"), chinese);
  return parse_mixture(R"(
[languages]
en = 1
zh = 1
[[source]]
name = "en"
path = "en.txt"
language = "en"
[[source]]
name = "zh"
path = "zh.txt"
language = "zh"
)",
                       "test", folder.path())
      .value();
}

TEST(VocabularyTrainer, HanCharactersStandAloneAndWordsKeepTheirSpace) {
  const base::TestFolder folder;
  VocabularyOptions options;
  options.size = 384;
  options.min_symbol_count = 10;
  const Result<text::Vocabulary> made = train_vocabulary(mixture_of(folder), options);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->size(), 384u);
  EXPECT_EQ(made->begin_id(), kBeginId);
  EXPECT_EQ(made->newline_id(), kNewlineId);
  for (const char* piece : {"我", "饭", "，", "。", "<NUM>", "~", "meeting "})
    EXPECT_NE(made->find(piece), kNoToken) << piece;
  EXPECT_EQ(made->find("罕"), kNoToken) << "too rare for a piece";
  EXPECT_EQ(made->find("我在"), kNoToken);
  const text::Tokenizer tokenizer(*made);
  for (const char* text : {"我在家 review 罕见", "meeting <NUM> 🙂", ""})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(VocabularyTrainer, SameTextSameVocabulary) {
  const base::TestFolder folder;
  VocabularyOptions options;
  options.size = 384;
  const Mixture mixture = mixture_of(folder);
  EXPECT_EQ(train_vocabulary(mixture, options).value().fingerprint(),
            train_vocabulary(mixture, options).value().fingerprint());
}

TEST(VocabularyTrainer, TooSmallASizeIsAnError) {
  const base::TestFolder folder;
  VocabularyOptions options;
  options.size = 300;
  const Result<text::Vocabulary> made = train_vocabulary(mixture_of(folder), options);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::BadArgument);
}

}  // namespace
}  // namespace laya::train

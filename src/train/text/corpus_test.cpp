#include "train/text/corpus.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "base/test_folder.h"
#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

constexpr const char* kText = "see you\nat home\n\n\n我在家\r\nno newline at the end 🙂";

std::string compressed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string unit_text(const Corpus& corpus, std::size_t unit, const text::Tokenizer& tokenizer) {
  const auto ids = corpus.unit(unit);
  return tokenizer.decode(std::vector<TokenId>(ids.begin(), ids.end()));
}

TEST(Corpus, BlankLinesPartDocumentsAndLinesEndWithNewline) {
  const text::Tokenizer tokenizer(small_vocabulary());
  const Corpus corpus = Corpus::from_text(kText, "t", encoder_of(tokenizer)).value();
  ASSERT_EQ(corpus.unit_count(), 2u);
  EXPECT_EQ(unit_text(corpus, 0, tokenizer), "see you\nat home\n");
  EXPECT_EQ(unit_text(corpus, 1, tokenizer), "我在家\nno newline at the end 🙂\n");
  EXPECT_EQ(corpus.characters(), 8u + 8u + 4u + 24u);
}

TEST(Corpus, CacheGivesTheSameTokensAndIsFoundAgain) {
  const base::TestFolder folder;
  const text::Tokenizer tokenizer(small_vocabulary());
  write_text(folder.file("t.txt.zst"), compressed(kText));
  const Corpus plain = Corpus::from_text(kText, "t", encoder_of(tokenizer)).value();
  const Corpus first =
      Corpus::open(folder.file("t.txt.zst"), "t", encoder_of(tokenizer), folder.file("cache"))
          .value();
  const Corpus again =
      Corpus::open(folder.file("t.txt.zst"), "t", encoder_of(tokenizer), folder.file("cache"))
          .value();
  EXPECT_FALSE(first.from_cache());
  EXPECT_TRUE(again.from_cache());
  for (const Corpus* corpus : {&first, &again}) {
    ASSERT_EQ(corpus->unit_count(), plain.unit_count());
    EXPECT_TRUE(std::equal(corpus->tokens().begin(), corpus->tokens().end(), plain.tokens().begin(),
                           plain.tokens().end()));
    EXPECT_EQ(corpus->characters(), plain.characters());
  }
}

TEST(Corpus, ChangedTextVocabularyOrFilterIsTokenisedAgain) {
  const base::TestFolder folder;
  const text::Tokenizer tokenizer(small_vocabulary());
  LineEncoder encoder = encoder_of(tokenizer);
  const auto open = [&] {
    return Corpus::open(folder.file("t.txt"), "t", encoder, folder.file("cache")).value();
  };
  write_text(folder.file("t.txt"), kText);
  EXPECT_FALSE(open().from_cache());
  write_text(folder.file("t.txt"), "other text");
  EXPECT_FALSE(open().from_cache());
  ++encoder.vocabulary_checksum;
  EXPECT_FALSE(open().from_cache());
  encoder.skip = [](std::string_view line) { return line == "nothing"; };
  encoder.skip_checksum = 7;
  EXPECT_FALSE(open().from_cache());
  EXPECT_TRUE(open().from_cache());
}

TEST(Corpus, DamagedCacheIsMadeAnew) {
  const base::TestFolder folder;
  const text::Tokenizer tokenizer(small_vocabulary());
  write_text(folder.file("t.txt"), kText);
  const auto open = [&] {
    return Corpus::open(folder.file("t.txt"), "t", encoder_of(tokenizer), folder.file("cache"))
        .value();
  };
  // No corpus may be alive while its file is cut short: the mapping would lose its pages.
  EXPECT_FALSE(open().from_cache());
  const auto file = std::filesystem::directory_iterator(folder.file("cache"))->path();
  const std::string bytes = base::read_file(file.string(), 1 << 20).value();
  for (std::size_t cut : {std::size_t{0}, std::size_t{20}, std::size_t{48}, bytes.size() - 1}) {
    SCOPED_TRACE(cut);
    write_text(file, bytes.substr(0, cut));
    EXPECT_FALSE(open().from_cache());
  }
  std::string flipped = bytes;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  write_text(file, flipped);
  EXPECT_FALSE(open().from_cache());
  EXPECT_TRUE(open().from_cache());
  EXPECT_EQ(base::read_file(file.string(), 1 << 20).value(), bytes);
}

TEST(Corpus, LongDocumentsAreCutAtLineEnds) {
  const text::Tokenizer tokenizer(small_vocabulary());
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "see you at home\n";
  const Corpus corpus = Corpus::from_text(text, "t", encoder_of(tokenizer)).value();
  EXPECT_GT(corpus.unit_count(), 1u);
  for (std::size_t i = 0; i < corpus.unit_count(); ++i) {
    EXPECT_LE(corpus.unit(i).size(), Corpus::kMaxUnitTokens);
    EXPECT_EQ(corpus.unit(i).back(), kNewlineId);
  }
}

TEST(Corpus, ErrorsNameTheFile) {
  const base::TestFolder folder;
  const text::Tokenizer tokenizer(small_vocabulary());
  const std::string whole = compressed(std::string(5000, 'a'));
  write_text(folder.file("foreign.txt.zst"), "this is not zstd");
  write_text(folder.file("cut.txt.zst"), whole.substr(0, whole.size() / 2));
  write_text(folder.file("empty.txt"), "\n\n");
  struct Case {
    const char* file;
    ErrorCode code;
  };
  for (const Case& c :
       {Case{"missing.txt", ErrorCode::Io}, Case{"foreign.txt.zst", ErrorCode::Corrupt},
        Case{"cut.txt.zst", ErrorCode::Corrupt}, Case{"empty.txt", ErrorCode::BadArgument}}) {
    SCOPED_TRACE(c.file);
    const Result<Corpus> corpus =
        Corpus::open(folder.file(c.file), "t", encoder_of(tokenizer), folder.file("cache"));
    ASSERT_FALSE(corpus.has_value());
    EXPECT_EQ(corpus.error().code, c.code);
    EXPECT_NE(corpus.error().message.find(c.file), std::string::npos) << corpus.error().message;
  }
}

}  // namespace
}  // namespace laya::train

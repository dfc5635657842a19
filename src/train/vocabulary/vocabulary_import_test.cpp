#include "train/vocabulary/vocabulary_import.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "text/chunk.h"
#include "text/tokenizer.h"

namespace laya::train {
namespace {

std::string own_text() {
  std::string all;
  for (const char* name : {"/testdata/demo.txt", "/docs/MAP.md", "/LICENSE"}) {
    std::ifstream in(std::string(LAYA_SOURCE_DIR) + name);
    std::stringstream text;
    text << in.rdbuf();
    all += text.str();
  }
  return all;
}

/// A small vocabulary with the shipped one's rules, trained on the repository's own texts.
class VocabularyImport : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<base::TestFolder>();
    folder_ = made_->path().string() + "/";
    std::ofstream(folder_ + "sp_corpus.txt") << own_text();
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        "--input=" + folder_ + "sp_corpus.txt --model_prefix=" + folder_ +
        "sp_small --vocab_size=700 --hard_vocab_limit=false --model_type=unigram --byte_fallback "
        "--treat_whitespace_as_suffix --split_digits --normalization_rule_name=identity "
        "--remove_extra_whitespaces=false --add_dummy_prefix=true --num_threads=1 "
        "--user_defined_symbols=<EMAIL>,<NUM> --minloglevel=2");
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  static void TearDownTestSuite() { made_.reset(); }
  static std::string model() { return folder_ + "sp_small.model"; }

  static inline std::unique_ptr<base::TestFolder> made_;  // tests run in parallel processes
  static inline std::string folder_;
};

TEST_F(VocabularyImport, KeepsPiecesScoresAndRoles) {
  const Result<text::Vocabulary> imported = import_sentencepiece(model());
  ASSERT_TRUE(imported.has_value()) << imported.error().message;
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.Load(model()).ok());
  ASSERT_EQ(imported->size(), static_cast<std::size_t>(theirs.GetPieceSize()));
  EXPECT_EQ(imported->begin_id(), static_cast<TokenId>(theirs.bos_id()));
  EXPECT_EQ(imported->newline_id(), static_cast<TokenId>(theirs.eos_id()));
  EXPECT_EQ(imported->type(static_cast<TokenId>(theirs.PieceToId("<NUM>"))),
            text::PieceType::Symbol);
  EXPECT_EQ(imported->byte_id(0xE4), static_cast<TokenId>(theirs.PieceToId("<0xE4>")));
  const auto the = static_cast<TokenId>(theirs.PieceToId("the\xE2\x96\x81"));
  EXPECT_EQ(imported->text(the), "the ");
  EXPECT_EQ(imported->score(the), theirs.GetScore(static_cast<int>(the)));
}

TEST_F(VocabularyImport, OurEncoderCutsEachChunkAsSentencepieceDoes) {
  Result<text::Vocabulary> imported = import_sentencepiece(model());
  ASSERT_TRUE(imported.has_value()) << imported.error().message;
  const text::Tokenizer ours(std::move(imported).value());
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.Load(model()).ok());

  const auto score = [&](const std::vector<int>& ids) {
    float sum = 0;
    for (const int id : ids) sum += theirs.GetScore(id);
    return sum;
  };
  std::size_t compared = 0;
  const std::string all = own_text();
  for (std::string_view rest = all; !rest.empty();) {
    const text::Chunk chunk = text::next_chunk(rest);
    const std::string part(rest.substr(0, chunk.length));
    rest.remove_prefix(chunk.length);
    if (part.size() < 2 || !chunk.ends_in_space) {
      continue;  // sentencepiece puts a space behind whatever it is given
    }
    std::vector<int> want;
    ASSERT_TRUE(theirs.Encode(part.substr(0, part.size() - 1), &want).ok());
    const std::vector<TokenId> ids = ours.encode(part);
    const std::vector<int> got(ids.begin(), ids.end());
    ++compared;
    if (got != want) {
      // Only a tie may be cut differently: "---" as "-|--" or "--|-".
      EXPECT_NEAR(score(got), score(want), 1e-4) << part;
      EXPECT_EQ(got.size(), want.size()) << part;
    }
  }
  EXPECT_GT(compared, 500u);
}

TEST_F(VocabularyImport, NamesAFileThatIsNoModel) {
  const std::string path = folder_ + "sp_corpus.txt";
  for (const std::string& wrong : {path, folder_ + "absent.model"}) {
    const Result<text::Vocabulary> imported = import_sentencepiece(wrong);
    ASSERT_FALSE(imported.has_value());
    EXPECT_NE(imported.error().message.find(wrong), std::string::npos);
  }
}

}  // namespace
}  // namespace laya::train

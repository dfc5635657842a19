#include "predict/deep/sentence_scorer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/gru/language_model.h"
#include "predict/deep/test_deep_models.h"

namespace laya::predict {
namespace {

/// ln p(tokens[from…] | tokens[…from]) by one prefill after another: the definition.
float chain(const model::Decoder& decoder, const std::vector<TokenId>& tokens, std::size_t from) {
  auto workspace = decoder.make_workspace();
  model::KvCache cache(decoder.config());
  std::vector<float> hidden(decoder.config().hidden_dim);
  std::vector<float> logits(decoder.config().vocabulary_size);
  float sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i >= from) {
      EXPECT_TRUE(decoder.logits(*workspace, hidden, 1, logits));
      sum += logits[tokens[i]] - model::log_sum_exp(logits);
    }
    EXPECT_TRUE(decoder.prefill(*workspace, cache, std::span(&tokens[i], 1), hidden));
  }
  return sum;
}

struct Fixture {
  text::SubwordTokenizer tokenizer = small_tokenizer();
  SmallDecoder model{tokenizer.size(), model::DecoderFamily::Gemma3};
};

std::vector<std::string_view> readings() {
  return {"我们明天去吃饭", "我们明天见", "我的", "see you tomorrow", "see you",
          "see the tom",    "好。",       "Tx 😀", "我们明天去"};
}

TEST(SentenceScorer, AgreesWithScoringOneAfterAnother) {
  Fixture f;
  SentenceScorer scorer(f.model.get(), f.tokenizer, {});
  for (const std::string_view before :
       {"", "see you ", "我们", "thank you very much. ", "the to"}) {
    SCOPED_TRACE(before);
    ASSERT_TRUE(scorer.set_context(before));
    const std::vector<std::string_view> candidates = readings();
    std::vector<float> got(candidates.size());
    ASSERT_TRUE(scorer.score(candidates, got));
    const std::size_t closed = f.tokenizer.closed_bytes(before);
    std::vector<TokenId> front = text_beginning(f.tokenizer);
    f.tokenizer.encode(before.substr(0, closed), front, nullptr);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      std::vector<TokenId> tokens = front;
      f.tokenizer.encode(std::string(before.substr(closed)) + std::string(candidates[i]), tokens,
                         nullptr,
                         closed == 0 ? text::TextPosition::Start : text::TextPosition::Rest);
      EXPECT_NEAR(got[i], chain(f.model.get(), tokens, front.size()), 2e-3) << candidates[i];
    }
  }
}

// Issue 4: readings share what they have in common, sixteen tokens a pass.
TEST(SentenceScorer, SharesPrefixesAndPasses) {
  Fixture f;
  SentenceScorer scorer(f.model.get(), f.tokenizer, {});
  const std::vector<std::string_view> candidates{"我的好", "我的天", "我的饭", "我的见"};
  std::vector<float> scores(candidates.size());
  ASSERT_TRUE(scorer.score(candidates, scores));
  EXPECT_EQ(scorer.columns(), 2u);  // 我, 的; the last characters are only asked for
  EXPECT_EQ(scorer.passes(), 1u);
  std::vector<std::string> many;
  for (const char* a : {"我", "明", "天", "去", "吃"}) {
    for (const char* b : {"好", "的", "见", "饭"}) {
      many.push_back(std::string(a) + b + "。");
    }
  }
  const std::vector<std::string_view> views(many.begin(), many.end());
  scores.resize(views.size());
  ASSERT_TRUE(scorer.score(views, scores));
  EXPECT_EQ(scorer.columns(), 5u + 20u);
  EXPECT_EQ(scorer.passes(), 2u);
}

TEST(SentenceScorer, ScoresMoreThanTheTreeHoldsInRounds) {
  Fixture f;
  SentenceScorer wide(f.model.get(), f.tokenizer, {});
  SentenceScorer narrow(f.model.get(), f.tokenizer,
                        {.keys_and_values = {.capacity_tokens = 128, .tree_nodes = 12}});
  const std::vector<std::string_view> candidates = readings();
  std::vector<float> a(candidates.size());
  std::vector<float> b(candidates.size());
  ASSERT_TRUE(wide.score(candidates, a));
  ASSERT_TRUE(narrow.score(candidates, b));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-4);
  }
  const std::string_view long_one = "see the you at to thank very much for tomorrow in the tom";
  float score = 0;
  const Status too_large = narrow.score(std::span(&long_one, 1), std::span(&score, 1));
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::TooLarge);
}

TEST(SentenceScorer, ALongTextCostsWhatItsEndCosts) {
  Fixture f;
  SentenceScorer scorer(f.model.get(), f.tokenizer, {});
  std::string before;
  for (int i = 0; i < 2000; ++i) {
    before += "see you tomorrow. ";
  }
  ASSERT_TRUE(scorer.set_context(before));
  const std::string_view candidate = "thank you";
  float first = 0;
  ASSERT_TRUE(scorer.score(std::span(&candidate, 1), std::span(&first, 1)));
  before += "see ";
  ASSERT_TRUE(scorer.set_context(before));
  float second = 0;
  ASSERT_TRUE(scorer.score(std::span(&candidate, 1), std::span(&second, 1)));
  EXPECT_TRUE(std::isfinite(first) && std::isfinite(second));
}

TEST(SentenceScorer, GivesTheSameFromThePrefixCache) {
  Fixture f;
  const model::KvOptions options{};
  model::PrefixCache prefixes(f.model.get().config(), options, 64u << 20U);
  const std::string before = "thank you very much. see you ";
  std::array<float, 2> scores{};
  const std::string_view candidate = "tomorrow";
  for (float& score : scores) {
    SentenceScorer scorer(f.model.get(), f.tokenizer,
                          {.keys_and_values = options, .prefixes = &prefixes});
    ASSERT_TRUE(scorer.set_context(before));
    ASSERT_TRUE(scorer.score(std::span(&candidate, 1), std::span(&score, 1)));
  }
  EXPECT_EQ(prefixes.entries(), 1u);
  EXPECT_EQ(scores[0], scores[1]);
}

TEST(SentenceScorer, IsCancelledAndCanGoOn) {
  Fixture f;
  SentenceScorer scorer(f.model.get(), f.tokenizer, {});
  base::CancelFlag cancel;
  cancel.cancel();
  const Status stopped = scorer.set_context("see you ", &cancel);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  ASSERT_TRUE(scorer.set_context("see you "));
  const std::vector<std::string_view> candidates = readings();
  std::vector<float> scores(candidates.size());
  ASSERT_FALSE(scorer.score(candidates, scores, &cancel));
  ASSERT_TRUE(scorer.score(candidates, scores));
  EXPECT_LT(scores[0], 0);
  EXPECT_FALSE(scorer.score(candidates, std::span(scores).first(1)));
}

}  // namespace
}  // namespace laya::predict

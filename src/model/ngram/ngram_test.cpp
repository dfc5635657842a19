#include "model/ngram/ngram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "base/allocation_counter.h"
#include "model/ngram/ngram_test_table.h"

namespace laya::model {
namespace {

using T = NgramTestTable;

constexpr float code(int c) { return -static_cast<float>(255 - c) / 16.0f; }

class Ngram : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = NgramModel::from_blobs(table_.view(), "test");
    ASSERT_TRUE(opened) << opened.error().message;
    model_ = std::make_unique<NgramModel>(std::move(opened).value());
  }

  NgramContext after(std::initializer_list<WordId> words) const {
    NgramContext context = model_->start();
    for (const WordId word : words) {
      model_->push(&context, word);
    }
    return context;
  }

  /// The same list by asking for every unit.
  std::vector<Scored> slow_top(const NgramContext& context, WordId begin, WordId end,
                               std::string_view prefix, std::size_t n) const {
    std::vector<Scored> all;
    for (WordId word = begin; word < end; ++word) {
      if (model_->text(word).starts_with(prefix)) {
        all.push_back({word, model_->log_prob(context, word)});
      }
    }
    std::sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) {
      return a.log_prob > b.log_prob || (a.log_prob == b.log_prob && a.word < b.word);
    });
    all.resize(std::min(n, all.size()));
    return all;
  }

  NgramTestTable table_;
  std::unique_ptr<NgramModel> model_;
};

TEST_F(Ngram, FindsUnitsByKeyAndShowsTheirWrittenForm) {
  for (WordId word = kFirstLexiconWord; word < model_->size(); ++word) {
    EXPECT_EQ(model_->find(model_->text(word)), word);
  }
  EXPECT_EQ(model_->find("absent"), kUnknownWord);
  EXPECT_EQ(model_->find(""), kUnknownWord);
  EXPECT_EQ(model_->display(T::kHello), "Hello");
  EXPECT_EQ(model_->display(T::kHe), "he");
  EXPECT_EQ(model_->display(1000), "");
  EXPECT_TRUE(model_->is_han(T::kWo));
  EXPECT_TRUE(model_->is_word(T::kThey));
  EXPECT_FALSE(model_->is_word(T::kComma));
}

TEST_F(Ngram, TakesTheLongestStoredNgramElseBacksOff) {
  EXPECT_FLOAT_EQ(model_->log_prob(after({}), T::kHe), code(220));
  EXPECT_FLOAT_EQ(model_->log_prob(after({T::kHe}), T::kHello), code(248));
  // <s> he ▶ the: backoff(<s> he) + backoff(he) + p(the)
  EXPECT_FLOAT_EQ(model_->log_prob(after({T::kHe}), T::kThe), code(243) + code(255) - 2.25f);
  // after an unknown word only unigrams are left
  EXPECT_FLOAT_EQ(model_->log_prob(after({kUnknownWord}), T::kThe), -2.25f);
  EXPECT_FLOAT_EQ(model_->log_prob(model_->none(), T::kMen), -5.0f);
  // a rare word shares the unknown unit's probability
  EXPECT_FLOAT_EQ(model_->log_prob(after({}), T::kThey), code(239) - 4.0f - 0.5f);
}

TEST_F(Ngram, TopListsAreWhatEveryUnitsProbabilityGives) {
  const std::vector<std::vector<WordId>> pasts = {
      {}, {T::kHe}, {T::kWo}, {T::kWo, T::kMen}, {T::kThe}, {kUnknownWord}, {T::kThey, T::kHe}};
  for (const auto& past : pasts) {
    NgramContext context = model_->start();
    for (const WordId word : past) model_->push(&context, word);
    for (const std::string_view prefix : {"", "h", "he", "hel", "the", "they", "x"}) {
      for (std::size_t n = 0; n <= 6; ++n) {
        std::vector<Scored> out(n);
        out.resize(model_->top_words(context, prefix, out));
        const std::vector<Scored> want = slow_top(context, 9, 14, prefix, n);
        ASSERT_EQ(out.size(), want.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
          EXPECT_EQ(out[i].word, want[i].word);
          EXPECT_FLOAT_EQ(out[i].log_prob, want[i].log_prob);
        }
      }
    }
    std::vector<Scored> han(3);
    han.resize(model_->top_han(context, han));
    const std::vector<Scored> want = slow_top(context, 7, 9, "", 3);
    ASSERT_EQ(han.size(), want.size());
    EXPECT_EQ(han[0].word, want[0].word);
  }
}

TEST_F(Ngram, RecentWordsComeForwardAndAreForgottenWhenCleared) {
  RecentWords recent;
  const RecentMix mix{.weight = 0.3f, .pair_weight = 0.2f, .decay = 0.9f, .skip = 0};
  const NgramContext context = after({});
  std::vector<Scored> out(1);
  ASSERT_EQ(model_->top_words(context, "he", recent, mix, out), 1u);
  EXPECT_EQ(out[0].word, T::kHe);
  EXPECT_NEAR(out[0].log_prob, model_->log_prob(context, T::kHe), 1e-5);
  recent.push(kLineStart, T::kHello);
  ASSERT_EQ(model_->top_words(context, "he", recent, mix, out), 1u);
  EXPECT_EQ(out[0].word, T::kHello);
  EXPECT_NEAR(std::exp(out[0].log_prob),
              0.5 * std::exp(model_->log_prob(context, T::kHello)) + 0.3 + 0.2, 1e-5);
  EXPECT_NEAR(model_->log_prob(context, T::kHello, recent, mix), out[0].log_prob, 1e-5);
  const RecentMix skipping{.weight = 0.3f, .pair_weight = 0.2f, .decay = 0.9f, .skip = 1};
  EXPECT_NEAR(model_->log_prob(context, T::kHello, recent, skipping),
              model_->log_prob(context, T::kHello), 1e-5)
      << "the word just said is not offered again at once";
  recent.clear();
  EXPECT_EQ(recent.size(), 0u);
  for (std::size_t i = 0; i < 3 * RecentWords::kCapacity; ++i) {
    recent.push(kLineStart, T::kHe);
  }
  EXPECT_EQ(recent.size(), RecentWords::kCapacity);
}

TEST_F(Ngram, AKeyAllocatesNothing) {
  RecentWords recent;
  recent.push(kLineStart, T::kHello);
  std::array<Scored, 8> out;
  const auto before = base::allocations_so_far();
  NgramContext context = model_->start();
  model_->push(&context, model_->find("he"));
  std::size_t n = model_->top_words(context, "h", recent, {}, out);
  n += model_->top_han(context, out) + model_->top_any(context, out);
  n += model_->top_characters(context, out);
  EXPECT_GT(n, 0u);
  EXPECT_EQ(base::allocations_so_far() - before, 0u);
}

TEST_F(Ngram, RefusesAMissingOrCutBlobByName) {
  for (const auto& [name, bytes] : table_.blobs) {
    if (name == "ngram.lexicon_text" || name == "ngram.display_text") {
      continue;  // offsets into these are clamped
    }
    NgramTestTable broken;
    broken.blobs[name].pop_back();
    const auto opened = NgramModel::from_blobs(broken.view(), "file");
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, ErrorCode::Corrupt);
    EXPECT_NE(opened.error().message.find(name), std::string::npos) << opened.error().message;
  }
  NgramTestTable other;
  other.header.version = kNgramVersion + 1;
  other.put_header();
  const auto opened = NgramModel::from_blobs(other.view(), "file");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::Version);
}

TEST_F(Ngram, HostileBytesGiveWrongWordsAtWorst) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    NgramTestTable hostile;
    for (auto& [name, bytes] : hostile.blobs) {
      if (name == "ngram.header" && random() % 4 != 0) continue;
      for (int i = 0; i < 3 && !bytes.empty(); ++i) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      }
    }
    const auto opened = NgramModel::from_blobs(hostile.view(), "file");
    if (!opened) continue;
    std::array<Scored, 8> out;
    NgramContext context = opened->start();
    for (int i = 0; i < 8; ++i) {
      opened->top_words(context, "h", out);
      const std::size_t n = opened->top_any(context, out);
      for (std::size_t j = 0; j < n; ++j) {
        opened->text(out[j].word);
        opened->display(out[j].word);
        opened->log_prob(context, out[j].word);
      }
      opened->push(&context, static_cast<WordId>(random() % 20));
    }
    opened->find("hello");
  }
}

}  // namespace
}  // namespace laya::model

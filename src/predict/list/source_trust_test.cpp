#include "predict/list/source_trust.h"

#include <gtest/gtest.h>

#include <array>

namespace laya::predict {
namespace {

class SourceTrustTest : public ::testing::Test {
 protected:
  void type(std::string_view letters) {
    text_.apply(0, 0, letters);
    trust_.follow(text_, shipped_mixing(), pool_);
  }
  float deep_share() const {
    Shares shares;
    shares.deep = 0.5F;
    return trust_.adjusted(shares).deep;
  }
  void pool_of(std::string_view key, float log_p_deep, float log_p_instant) {
    pool_[0] = {};
    pool_[0].key = key;
    pool_[0].log_p_deep = log_p_deep;
    pool_[0].log_p_network = pool_[0].log_p_ngram = log_p_instant;
  }

  TypedText text_;
  SourceTrust trust_;
  std::array<PoolWord, 1> pool_{};
};

TEST_F(SourceTrustTest, ADecoderThatKnewTheWordCountsMoreAfterIt) {
  pool_of("see", -1, -4);
  type("See");
  EXPECT_EQ(deep_share(), 0.5F) << "the word is still open";
  type(" ");
  EXPECT_GT(deep_share(), 0.7F);
}

TEST_F(SourceTrustTest, ADecoderThatWasSurprisedCountsLess) {
  pool_of("lah", kImpossible, -2);
  type("lah");
  type(" ");
  EXPECT_EQ(deep_share(), 0.5F) << "it was not asked";
  pool_of("lah", -9, -2);
  type("lah");
  type(" ");
  EXPECT_LT(deep_share(), 0.3F);
}

TEST_F(SourceTrustTest, LearnsNothingFromOtherWordsAndForgetsWhenCleared) {
  pool_of("you", -1, -4);
  type("see");
  type(" ");
  EXPECT_EQ(deep_share(), 0.5F);
  type("you");
  type(",");
  EXPECT_GT(deep_share(), 0.5F);
  trust_.clear();
  EXPECT_EQ(deep_share(), 0.5F);
}

TEST_F(SourceTrustTest, LearnsFromEachHanCharacterOnItsOwnAccount) {
  std::array<HanPiece, 2> han{};
  han[0].code_point = U'好';
  han[1].code_point = U'的';
  std::array<HanWord, 1> weighed{};
  weighed[0].log_p_deep = -1;
  weighed[0].log_p_network = weighed[0].log_p_ngram = -4;
  const auto insert = [&](std::string_view characters) {
    text_.apply(0, 0, characters);
    trust_.follow_han(text_, characters.size(), shipped_mixing(), weighed, han);
    Shares shares;
    shares.deep = shares.han_deep = 0.5F;
    EXPECT_EQ(trust_.adjusted(shares).deep, 0.5F);
    return trust_.adjusted(shares).han_deep;
  };
  EXPECT_EQ(insert("的"), 0.5F) << "nothing was known of it";
  EXPECT_EQ(insert("a"), 0.5F);
  const float after = insert("好的");
  EXPECT_GT(after, 0.6F) << "the first of what was inserted";
  weighed[0].log_p_deep = -9;
  EXPECT_LT(insert("好"), after);
}

}  // namespace
}  // namespace laya::predict

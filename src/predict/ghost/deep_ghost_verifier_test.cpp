#include "predict/ghost/deep_ghost_verifier.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "model/decoder/token_stream.h"
#include "model/gru/language_model.h"
#include "predict/deep/test_deep_models.h"
#include "predict/source/softmax.h"

namespace laya::predict {
namespace {

constexpr std::size_t kRows = 300;
const std::vector<TokenId> kPrompt{1, 17, 5, 200, 44, 9};

/// Plain greedy decoding: one token a pass.
std::vector<TokenId> plain(const model::Decoder& decoder, std::span<const TokenId> prompt,
                           std::size_t count) {
  model::KvCache cache(decoder.config());
  model::TokenStream stream(decoder, cache);
  EXPECT_TRUE(stream.start(prompt));
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(*stream.next_token());
  }
  return tokens;
}

enum class Guess { None, Random, Right, RightThenWrong };

/// Guesses as told; knows the right answer where it must.
struct Guesser : GhostGuide {
  Guess how = Guess::None;
  std::vector<TokenId> right;
  std::mt19937 random{7};
  std::size_t reads = 0;
  std::vector<std::vector<TokenId>> paths;  // that it was taught behind
  TokenId stop_at = kNoToken;

  void draft(std::span<const TokenId> tokens, std::size_t columns, TokenTrie& drafts) override {
    if (how == Guess::None) {
      return;
    }
    if (how == Guess::Random) {
      std::int32_t at = TokenTrie::kTop;
      for (std::size_t i = 0; i < columns + 5; ++i) {  // more than asked for: the rest is cut
        const std::int32_t node = drafts.add(at, static_cast<TokenId>(random() % kRows));
        at = random() % 3 == 0 ? TokenTrie::kTop : node;
      }
      return;
    }
    std::int32_t at = TokenTrie::kTop;
    for (std::size_t i = tokens.size(); i < right.size() && drafts.size() < columns; ++i) {
      if (how == Guess::RightThenWrong && i % 3 == 2) {
        drafts.add(at, static_cast<TokenId>((right[i] + 1) % kRows));
        return;
      }
      drafts.add(at, static_cast<TokenId>((right[i] + 2) % kRows));  // a wrong sister first
      at = drafts.add(at, right[i]);
    }
  }
  void read(std::span<const TokenId> tokens, const TokenRow& row) override {
    EXPECT_EQ(tokens.size(), reads + 1);
    ASSERT_EQ(row.size(), kRows);
    std::vector<TokenId> all(kRows);
    std::iota(all.begin(), all.end(), TokenId{0});
    EXPECT_NEAR(row.mass(all), 1, 1e-4);
    ++reads;
  }
  void learn(std::span<const TokenId> path, TokenId next) override {
    ASSERT_FALSE(path.empty());
    ASSERT_LE(path.size(), kPath);
    paths.emplace_back(path.begin(), path.end());
    EXPECT_LT(next, kRows);
  }
  bool accept(std::span<const TokenId>, TokenId next, float log_prob) override {
    EXPECT_LE(log_prob, 1e-5F);
    return next != stop_at;
  }
};

struct Prompted {
  explicit Prompted(const model::Decoder& decoder, std::span<const TokenId> prompt = kPrompt)
      : workspace(decoder.make_workspace()), cache(decoder.config()), probs(kRows) {
    std::vector<float> hidden(decoder.config().hidden_dim);
    EXPECT_TRUE(decoder.prefill(*workspace, cache, prompt, hidden));
    EXPECT_TRUE(decoder.logits(*workspace, hidden, 1, probs));
    const float log_z = model::log_sum_exp(probs);
    for (float& p : probs) {
      p = std::exp(p - log_z);
    }
  }
  std::unique_ptr<model::Workspace> workspace;
  model::KvCache cache;
  std::vector<float> probs;
};

class Verifier : public testing::TestWithParam<model::DecoderFamily> {};
INSTANTIATE_TEST_SUITE_P(All, Verifier, testing::ValuesIn(model::kDecoderFamilies),
                         [](const auto& each) { return std::string(family_name(each.param)); });

// The promise: whatever is guessed, the text is that of greedy decoding, token for token.
TEST_P(Verifier, TextIsThatOfPlainGreedyDecodingWhateverIsGuessed) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const SmallDecoder model(kRows, GetParam(), seed);
    const std::vector<TokenId> want = plain(model.get(), kPrompt, 12);
    for (const Guess how : {Guess::None, Guess::Random, Guess::Right, Guess::RightThenWrong}) {
      SCOPED_TRACE(static_cast<int>(how));
      Prompted state(model.get());
      Guesser guesser;
      guesser.how = how;
      guesser.right = want;
      DraftVerifier verifier(model.get());
      ASSERT_TRUE(verifier.run(*state.workspace, state.cache, guesser,
                               {.root_probs = state.probs, .max_tokens = 12}));
      EXPECT_EQ(std::vector<TokenId>(verifier.tokens().begin(), verifier.tokens().end()), want);
      if (how == Guess::None) {
        EXPECT_EQ(verifier.passes(), 11u);  // the first is known from the root
        ASSERT_EQ(guesser.paths.size(), 11u);
        EXPECT_EQ(guesser.paths[0], (std::vector<TokenId>{want[0]}));
        EXPECT_EQ(guesser.paths[9], (std::vector<TokenId>{want[7], want[8], want[9]}));
      }
      if (how == Guess::Right) {  // eight of them and their sisters fit into sixteen columns
        EXPECT_LE(verifier.passes(), 2u);
      }
    }
  }
}

TEST_P(Verifier, ReadsGivenTokensAndGoesOnFromThem) {
  const SmallDecoder model(kRows, GetParam());
  const std::vector<TokenId> given{7, 250, 31};
  std::vector<TokenId> whole = kPrompt;
  whole.insert(whole.end(), given.begin(), given.end());
  std::vector<TokenId> want = given;
  const std::vector<TokenId> rest = plain(model.get(), whole, 6);
  want.insert(want.end(), rest.begin(), rest.end());
  for (const Guess how : {Guess::None, Guess::Right}) {
    Prompted state(model.get());
    Guesser guesser;
    guesser.how = how;
    guesser.right = want;
    DraftVerifier verifier(model.get());
    ASSERT_TRUE(verifier.run(*state.workspace, state.cache, guesser,
                             {.root_probs = state.probs, .given = given, .max_tokens = 6}));
    ASSERT_EQ(std::vector<TokenId>(verifier.tokens().begin(), verifier.tokens().end()), want);
    EXPECT_EQ(verifier.passes(), how == Guess::None ? 6u : 1u);
    // The log probabilities are those of the chain.
    std::vector<TokenId> prompt = kPrompt;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const Prompted here(model.get(), prompt);
      EXPECT_NEAR(verifier.log_probs()[i], std::log(here.probs[want[i]]), 1e-4);
      prompt.push_back(want[i]);
    }
  }
}

TEST(DraftVerifier, ReadNodesCanBeCommitted) {
  const SmallDecoder model(kRows);
  const std::vector<TokenId> want = plain(model.get(), kPrompt, 8);
  Prompted state(model.get());
  Guesser guesser;
  guesser.how = Guess::RightThenWrong;
  guesser.right = want;
  DraftVerifier verifier(model.get());
  ASSERT_TRUE(verifier.run(*state.workspace, state.cache, guesser,
                           {.root_probs = state.probs, .max_tokens = 8}));
  ASSERT_GE(verifier.tokens_read(), 7u);
  EXPECT_EQ(state.cache.depth(verifier.last_node()), verifier.tokens_read());
  state.cache.commit(verifier.last_node());
  EXPECT_EQ(state.cache.length(), kPrompt.size() + verifier.tokens_read());
  std::vector<float> hidden(model.get().config().hidden_dim);
  std::vector<float> logits(kRows);
  const TokenId last = verifier.tokens()[7];
  if (verifier.tokens_read() == 7) {
    ASSERT_TRUE(model.get().prefill(*state.workspace, state.cache, std::span(&last, 1), hidden));
    ASSERT_TRUE(model.get().logits(*state.workspace, hidden, 1, logits));
    EXPECT_EQ(largest(logits), plain(model.get(), kPrompt, 9)[8]);
  }
}

/// Nodes that a list has looked into: the first two tokens of the phrase.
struct TwoNodes : KnownNodes {
  Known find(model::KvNodeId parent, TokenId token) const override {
    for (const auto& [from, by, known] : nodes) {
      if (from == parent && by == token) {
        return known;
      }
    }
    return {};
  }
  std::vector<std::tuple<model::KvNodeId, TokenId, Known>> nodes;
};

TEST(DraftVerifier, UsesNodesThatAreKnown) {
  const SmallDecoder model(kRows);
  const std::vector<TokenId> want = plain(model.get(), kPrompt, 8);
  Prompted state(model.get());
  const model::Column columns[] = {{model::kRoot, 5}, {model::kRoot, want[0]}, {1, want[1]}};
  std::vector<float> hidden(3 * model.get().config().hidden_dim);
  ASSERT_TRUE(model.get().grow(*state.workspace, state.cache, columns, hidden));
  std::vector<float> probs(3 * kRows);
  ASSERT_TRUE(model.get().logits(*state.workspace, hidden, 3, probs));
  for (std::size_t i = 0; i < 3; ++i) {
    softmax_in_place(std::span(probs).subspan(i * kRows, kRows));
  }
  TwoNodes known;
  known.nodes = {{model::kRoot, want[0], {1, std::span(probs).subspan(kRows, kRows)}},
                 {1, want[1], {2, std::span(probs).subspan(2 * kRows, kRows)}}};
  Guesser guesser;
  DraftVerifier verifier(model.get());
  ASSERT_TRUE(verifier.run(*state.workspace, state.cache, guesser,
                           {.root_probs = state.probs, .max_tokens = 8, .known = &known}));
  EXPECT_EQ(std::vector<TokenId>(verifier.tokens().begin(), verifier.tokens().end()), want);
  EXPECT_EQ(verifier.passes(), 5u);  // the third to the seventh token
}

TEST(DraftVerifier, EndsWhereTheGuideSaysSo) {
  const SmallDecoder model(kRows);
  const std::vector<TokenId> want = plain(model.get(), kPrompt, 8);
  Prompted state(model.get());
  Guesser guesser;
  guesser.stop_at = want[3];
  DraftVerifier verifier(model.get());
  ASSERT_TRUE(verifier.run(*state.workspace, state.cache, guesser,
                           {.root_probs = state.probs, .max_tokens = 8}));
  const auto first =
      static_cast<std::size_t>(std::find(want.begin(), want.end(), want[3]) - want.begin());
  EXPECT_EQ(verifier.tokens().size(), first);
}

TEST(DraftVerifier, StopsWhereTheTreeIsFull) {
  const SmallDecoder model(kRows);
  Prompted state(model.get());
  model::KvCache narrow(model.get().config(), {.capacity_tokens = 64, .tree_nodes = 3});
  ASSERT_TRUE(model.get().prefill(*state.workspace, narrow, kPrompt, {}));
  Guesser guesser;
  guesser.how = Guess::Random;
  DraftVerifier verifier(model.get());
  ASSERT_TRUE(verifier.run(*state.workspace, narrow, guesser,
                           {.root_probs = state.probs, .max_tokens = 8}));
  const std::vector<TokenId> want = plain(model.get(), kPrompt, 8);
  ASSERT_GE(verifier.tokens().size(), 2u);
  EXPECT_TRUE(std::equal(verifier.tokens().begin(), verifier.tokens().end(), want.begin()));
}

TEST(DraftVerifier, IsCancelledAndSaysWhatDoesNotFit) {
  const SmallDecoder model(kRows);
  Prompted state(model.get());
  Guesser guesser;
  DraftVerifier verifier(model.get());
  base::CancelFlag cancel;
  cancel.cancel();
  const Status stopped = verifier.run(*state.workspace, state.cache, guesser,
                                      {.root_probs = state.probs, .cancel = &cancel});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(state.cache.node_count(), 0u);
  const TokenId outside = kRows;
  for (const DraftVerifier::Request& request :
       {DraftVerifier::Request{.root_probs = std::span(state.probs).first(10)},
        DraftVerifier::Request{.root_probs = state.probs, .max_tokens = 1000},
        DraftVerifier::Request{.root_probs = state.probs, .given = std::span(&outside, 1)}}) {
    const Status wrong = verifier.run(*state.workspace, state.cache, guesser, request);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, ErrorCode::BadArgument);
  }
}

TEST(Largest, IsTheFirstOfEqualsAtEveryLength) {
  std::mt19937 random(3);
  for (std::size_t size : {0u, 1u, 2u, 15u, 16u, 17u, 255u, 256u, 257u, 1000u}) {
    std::vector<float> values(size);
    for (float& value : values) {
      value = static_cast<float>(random() % 50);
    }
    const std::size_t want = static_cast<std::size_t>(
        size == 0 ? 0 : std::max_element(values.begin(), values.end()) - values.begin());
    EXPECT_EQ(largest(values), want) << size;
  }
}

}  // namespace
}  // namespace laya::predict

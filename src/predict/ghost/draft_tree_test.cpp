#include "predict/ghost/draft_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace laya::predict {
namespace {

using Tokens = std::vector<TokenId>;

TokenId below(TokenId bound, std::mt19937& random) {
  return static_cast<TokenId>(random() % bound);
}

float prob_of(const SaidBefore::Guesses& guesses, TokenId token) {
  for (const SaidBefore::Guess& guess : guesses.all()) {
    if (guess.token == token) {
      return guess.prob;
    }
  }
  return 0;
}

TEST(SaidBefore, KnowsNothingAtFirst) {
  const SaidBefore said;
  EXPECT_EQ(said.guess(Tokens{1, 2, 3}).count, 0u);
  EXPECT_EQ(said.guess({}).count, 0u);
  EXPECT_EQ(said.guess(Tokens{1}).unknown, 1);
}

TEST(SaidBefore, BelievesWhatItHeardLast) {
  SaidBefore said;
  said.learn(Tokens{1, 2}, 3);
  said.learn(Tokens{1, 2}, 5);
  const SaidBefore::Guesses guesses = said.guess(Tokens{1, 2});
  EXPECT_EQ(guesses.count, 2u);
  EXPECT_GT(prob_of(guesses, 5), prob_of(guesses, 3));
  EXPECT_GT(guesses.unknown, 0);
}

TEST(SaidBefore, IsWipedByClear) {
  SaidBefore said;
  EXPECT_TRUE(said.empty());
  for (TokenId token = 0; token < 2000; ++token) {
    said.learn(Tokens{token, token + 1, token + 2}, token + 3);
  }
  EXPECT_FALSE(said.empty());
  said.clear();
  EXPECT_TRUE(said.empty());
  for (TokenId token = 0; token < 2000; ++token) {
    const SaidBefore::Guesses guesses = said.guess(Tokens{token, token + 1, token + 2});
    EXPECT_EQ(guesses.count, 0u);
    EXPECT_EQ(guesses.unknown, 1.0F);
  }
}

TEST(SaidBefore, BelievesLongContextsMore) {
  SaidBefore said;
  said.learn(Tokens{7, 8, 9}, 1);
  said.learn(Tokens{6, 9}, 2);  // later, but a shorter context in common
  const SaidBefore::Guesses guesses = said.guess(Tokens{7, 8, 9});
  EXPECT_GT(prob_of(guesses, 1), prob_of(guesses, 2));
  EXPECT_GT(prob_of(guesses, 2), 0);
  // Behind other tokens only the short one is known.
  EXPECT_GT(prob_of(said.guess(Tokens{5, 9}), 2), prob_of(said.guess(Tokens{5, 9}), 1));
}

TEST(SaidBefore, SharesSumToOneWhateverItHeard) {
  SaidBefore said;
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const Tokens behind{below(7, random), below(7, random), below(7, random)};
    said.learn(std::span(behind).first(1 + below(3, random)), below(11, random));
  }
  for (TokenId a = 0; a < 7; ++a) {
    for (TokenId b = 0; b < 7; ++b) {
      const SaidBefore::Guesses guesses = said.guess(Tokens{a, b, a});
      float sum = guesses.unknown;
      for (const SaidBefore::Guess& guess : guesses.all()) {
        EXPECT_GE(guess.prob, 0);
        sum += guess.prob;
      }
      EXPECT_LE(sum, 1.0001F);
      EXPECT_GT(guesses.count, 0u);
    }
  }
}

// The paths of a trie, a line of tokens each.
std::vector<Tokens> paths_of(const TokenTrie& trie) {
  std::vector<Tokens> paths;
  for (std::size_t i = 0; i < trie.size(); ++i) {
    Tokens path;
    for (auto node = static_cast<std::int32_t>(i); node != TokenTrie::kTop;
         node = trie[node].parent) {
      path.insert(path.begin(), trie[node].token);
    }
    paths.push_back(path);
  }
  return paths;
}

TEST(DraftTree, TakesTheLikeliestPathsFirst) {
  DraftTree tree;
  tree.offer(Tokens{1}, 0.3F);
  tree.offer(Tokens{1, 2}, 0.2F);
  tree.offer(Tokens{3}, 0.1F);
  tree.offer(Tokens{4}, 0.01F);
  TokenTrie drafts;
  tree.choose(SaidBefore(), Tokens{9}, 3, drafts);
  EXPECT_EQ(paths_of(drafts), (std::vector<Tokens>{{1}, {1, 2}, {3}}));
}

TEST(DraftTree, JoinsWhatWasSaidAndWhatIsOffered) {
  SaidBefore said;
  said.learn(Tokens{9}, 5);
  said.learn(Tokens{9, 5}, 6);
  DraftTree tree;
  tree.offer(Tokens{1}, 0.9F);
  tree.offer(Tokens{5, 7}, 0.05F);
  TokenTrie drafts;
  tree.choose(said, Tokens{9}, 7, drafts);
  const std::vector<Tokens> paths = paths_of(drafts);
  for (const Tokens& path : {Tokens{5}, Tokens{5, 6}, Tokens{5, 7}, Tokens{1}}) {
    EXPECT_EQ(std::count(paths.begin(), paths.end(), path), 1);
  }
}

TEST(DraftTree, NeverTakesMoreThanAskedFor) {
  SaidBefore said;
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    said.learn(Tokens{below(5, random), below(5, random)}, below(5, random));
  }
  DraftTree tree;
  for (std::size_t columns = 0; columns < 16; ++columns) {
    TokenTrie drafts;
    tree.choose(said, Tokens{1, 2}, columns, drafts);
    EXPECT_LE(drafts.size(), columns);
  }
  tree.offer(Tokens(200, 1), 0.5F);  // longer than it keeps: not taken
  tree.clear();
  TokenTrie drafts;
  tree.choose(SaidBefore(), Tokens{1}, 5, drafts);
  EXPECT_EQ(drafts.size(), 0u);
}

}  // namespace
}  // namespace laya::predict

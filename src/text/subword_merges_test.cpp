#include "text/subword_merges.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace laya::text {
namespace {

/// What merging means, written down plainly: look at all pairs, merge the best one, begin again.
void merge_plainly(const std::vector<Merge>& merges, std::vector<TokenId>& symbols,
                   std::vector<std::uint32_t>& ends) {
  std::map<std::pair<TokenId, TokenId>, std::size_t> ranks;
  for (std::size_t i = 0; i < merges.size(); ++i) {
    ranks.emplace(std::pair(merges[i].left, merges[i].right), i);
  }
  for (;;) {
    std::size_t best = merges.size();
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = ranks.find({symbols[i], symbols[i + 1]});
      if (found != ranks.end() && found->second < best) {
        best = found->second;
        at = i;
      }
    }
    if (best == merges.size()) {
      return;
    }
    symbols[at] = merges[best].result;
    symbols.erase(symbols.begin() + at + 1);
    ends.erase(ends.begin() + at);
  }
}

TEST(SubwordMerges, EqualThePlainDefinitionForShortAndLongWords) {
  std::mt19937 random(11);
  const auto number = [&](std::uint32_t below) {
    return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(random);
  };
  for (int round = 0; round < 300; ++round) {
    // Symbols 0…3 are letters; each merge makes a new one of two there are.
    std::vector<Merge> merges;
    for (TokenId next = 4; next < 40; ++next) {
      merges.push_back({number(next), number(next), next});
    }
    std::shuffle(merges.begin(), merges.end(), random);  // a merge may rank above those it needs
    const MergeTable table(merges);
    MergeScratch scratch;
    for (const std::size_t length : {0u, 1u, 2u, 5u, 23u, 24u, 25u, 60u, 300u}) {
      std::vector<TokenId> symbols = {9, 9};  // of an earlier word: stay as they are
      std::vector<std::uint32_t> ends = {1, 2};
      std::vector<TokenId> want;
      std::vector<std::uint32_t> want_ends;
      for (std::size_t i = 0; i < length; ++i) {
        want.push_back(number(4));
        want_ends.push_back(static_cast<std::uint32_t>(i + 3));
      }
      symbols.insert(symbols.end(), want.begin(), want.end());
      ends.insert(ends.end(), want_ends.begin(), want_ends.end());
      table.merge(2, symbols, ends, scratch);
      merge_plainly(merges, want, want_ends);
      want.insert(want.begin(), {9, 9});
      want_ends.insert(want_ends.begin(), {1, 2});
      ASSERT_EQ(symbols, want);
      ASSERT_EQ(ends, want_ends);
    }
  }
}

TEST(SubwordMerges, KnowsItsPairsAndNoOthers) {
  std::vector<Merge> merges;
  for (TokenId i = 0; i < 5000; ++i) {
    merges.push_back({i * 7 % 5000, i * 13 % 4999, i});
  }
  const MergeTable table(merges);
  std::map<std::pair<TokenId, TokenId>, std::uint32_t> first;
  for (std::uint32_t i = 0; i < merges.size(); ++i) {
    first.emplace(std::pair(merges[i].left, merges[i].right), i);
  }
  for (TokenId left = 0; left < 5000; left += 3) {
    for (TokenId right = 0; right < 5000; right += 17) {
      const auto found = first.find({left, right});
      ASSERT_EQ(table.rank(left, right),
                found == first.end() ? MergeTable::kNoRank : found->second);
    }
  }
  EXPECT_EQ(MergeTable().rank(1, 2), MergeTable::kNoRank);
}

}  // namespace
}  // namespace laya::text

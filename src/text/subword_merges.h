// Byte-pair merging: the table of pairs by rank, and merging a word's symbols in O(n log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace laya::text {

/// Two neighbours that become one. The position in the list is the rank: lower merges first.
struct Merge {
  TokenId left;
  TokenId right;
  TokenId result;
};

/// Working memory of MergeTable::merge(); grows to the longest word met.
struct MergeScratch {
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t at;  ///< the left symbol
    TokenId left, right;
  };
  std::vector<std::uint32_t> previous, next;  ///< the symbols as a linked list
  std::vector<Candidate> heap;
};

class MergeTable {
 public:
  static constexpr std::uint32_t kNoRank = 0xFFFFFFFFu;

  MergeTable() = default;
  /// Later ones of the same pair are never used. Ids are the caller's to check.
  explicit MergeTable(std::vector<Merge> merges);

  std::span<const Merge> list() const { return merges_; }
  /// The rank of the pair, or kNoRank. O(1).
  std::uint32_t rank(TokenId left, TokenId right) const;

  /// Merges symbols[first…] of the two parallel arrays in place until no pair is left: the lowest
  /// rank first, of equal ones the leftmost. `ends` holds where each symbol ends. Both shrink.
  void merge(std::size_t first, std::vector<TokenId>& symbols, std::vector<std::uint32_t>& ends,
             MergeScratch& scratch) const;

  std::size_t size_bytes() const;

 private:
  std::vector<Merge> merges_;
  std::vector<std::uint32_t> table_;  // open addressing, a power of two, ranks or kNoRank
};

}  // namespace laya::text

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
  std::vector<std::uint32_t> previous, next;  ///< [symbols] a long word as a linked list
  std::vector<std::uint64_t> heap;            ///< rank << 32 | left symbol: the smallest first
};

class MergeTable {
 public:
  static constexpr std::uint32_t kNoRank = 0xFFFFFFFFu;

  MergeTable() = default;
  /// Of two with the same pair the first counts. Ids are the caller's to check.
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
  void merge_short(std::size_t first, std::vector<TokenId>& symbols,
                   std::vector<std::uint32_t>& ends) const;
  void merge_long(std::size_t first, std::vector<TokenId>& symbols,
                  std::vector<std::uint32_t>& ends, MergeScratch& scratch) const;

  std::vector<Merge> merges_;
  // Open addressing, a power of two: hash << 32 | rank, or kEmpty. The hash's upper half is
  // compared first, so that a pair that is not there costs one look into memory.
  std::vector<std::uint64_t> table_;
};

}  // namespace laya::text

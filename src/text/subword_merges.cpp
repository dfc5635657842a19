#include "text/subword_merges.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace laya::text {
namespace {

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
constexpr std::uint32_t kNoSymbol = 0xFFFFFFFFu;
/// Up to here looking through all pairs for the best one is faster than a heap; most words have
/// fewer letters.
constexpr std::size_t kShortWord = 24;

/// Steele et al. 2014, "Fast splittable pseudorandom number generators": its finaliser.
std::uint64_t hash_pair(TokenId left, TokenId right) {
  std::uint64_t key = (std::uint64_t{left} << 32) | right;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ULL;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebULL;
  return key ^ (key >> 31);
}

}  // namespace

MergeTable::MergeTable(std::vector<Merge> merges) : merges_(std::move(merges)) {
  if (merges_.empty()) {
    return;
  }
  table_.assign(std::bit_ceil(merges_.size() * 2), kEmpty);
  const std::size_t mask = table_.size() - 1;
  for (std::uint32_t number = 0; number < merges_.size(); ++number) {
    const Merge& merge = merges_[number];
    const std::uint64_t hash = hash_pair(merge.left, merge.right);
    std::size_t slot = hash & mask;
    bool known = false;
    for (; table_[slot] != kEmpty && !known; slot = (slot + 1) & mask) {
      const Merge& other = merges_[static_cast<std::uint32_t>(table_[slot])];
      known = (table_[slot] ^ hash) >> 32 == 0 && other.left == merge.left &&
              other.right == merge.right;
    }
    if (known) {
      continue;
    }
    table_[slot] = (hash & 0xFFFFFFFF00000000ULL) | number;
  }
}

std::uint32_t MergeTable::rank(TokenId left, TokenId right) const {
  if (table_.empty()) {
    return kNoRank;
  }
  const std::size_t mask = table_.size() - 1;
  const std::uint64_t hash = hash_pair(left, right);
  for (std::size_t slot = hash & mask; table_[slot] != kEmpty; slot = (slot + 1) & mask) {
    if ((table_[slot] ^ hash) >> 32 == 0) {
      const auto number = static_cast<std::uint32_t>(table_[slot]);
      if (merges_[number].left == left && merges_[number].right == right) {
        return number;
      }
    }
  }
  return kNoRank;
}

void MergeTable::merge(std::size_t first, std::vector<TokenId>& symbols,
                       std::vector<std::uint32_t>& ends, MergeScratch& scratch) const {
  const std::size_t count = symbols.size() - first;
  if (count < 2 || table_.empty()) {
    return;
  }
  if (count <= kShortWord) {
    merge_short(first, symbols, ends);
  } else {
    merge_long(first, symbols, ends, scratch);
  }
}

void MergeTable::merge_short(std::size_t first, std::vector<TokenId>& symbols,
                             std::vector<std::uint32_t>& ends) const {
  const std::span<TokenId> ids = std::span(symbols).subspan(first);
  const std::span<std::uint32_t> places = std::span(ends).subspan(first);
  std::uint32_t ranks[kShortWord];  // [i] of the pair (i, i + 1)
  std::size_t count = ids.size();
  for (std::size_t i = 0; i + 1 < count; ++i) {
    ranks[i] = rank(ids[i], ids[i + 1]);
  }
  while (count > 1) {
    const std::size_t best = std::min_element(ranks, ranks + count - 1) - ranks;
    if (ranks[best] == kNoRank) {
      break;
    }
    ids[best] = merges_[ranks[best]].result;
    places[best] = places[best + 1];
    --count;
    for (std::size_t i = best + 1; i < count; ++i) {
      ids[i] = ids[i + 1];
      places[i] = places[i + 1];
      ranks[i - 1] = ranks[i];
    }
    if (best > 0) {
      ranks[best - 1] = rank(ids[best - 1], ids[best]);
    }
    if (best + 1 < count) {
      ranks[best] = rank(ids[best], ids[best + 1]);
    }
  }
  symbols.resize(first + count);
  ends.resize(first + count);
}

void MergeTable::merge_long(std::size_t first, std::vector<TokenId>& symbols,
                            std::vector<std::uint32_t>& ends, MergeScratch& scratch) const {
  const std::span<TokenId> ids = std::span(symbols).subspan(first);
  const std::span<std::uint32_t> places = std::span(ends).subspan(first);
  const auto count = static_cast<std::uint32_t>(ids.size());
  scratch.previous.resize(count);
  scratch.next.resize(count);
  scratch.heap.clear();
  const auto offer = [&](std::uint32_t left, std::uint32_t right) {
    const std::uint32_t found = rank(ids[left], ids[right]);
    if (found != kNoRank) {
      scratch.heap.push_back((std::uint64_t{found} << 32) | left);
      std::push_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    scratch.previous[i] = i == 0 ? kNoSymbol : i - 1;
    scratch.next[i] = i + 1 == count ? kNoSymbol : i + 1;
    if (i > 0) {
      offer(i - 1, i);
    }
  }
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    const Merge& merge = merges_[scratch.heap.back() >> 32];
    const auto left = static_cast<std::uint32_t>(scratch.heap.back());
    scratch.heap.pop_back();
    const std::uint32_t right = scratch.next[left];
    // A neighbour may have merged since: then this pair is no more. (A symbol that went into its
    // left neighbour is kNoToken.)
    if (ids[left] != merge.left || right == kNoSymbol || ids[right] != merge.right) {
      continue;
    }
    ids[left] = merge.result;
    places[left] = places[right];
    ids[right] = kNoToken;
    const std::uint32_t behind = scratch.next[right];
    scratch.next[left] = behind;
    if (behind != kNoSymbol) {
      scratch.previous[behind] = left;
      offer(left, behind);
    }
    if (scratch.previous[left] != kNoSymbol) {
      offer(scratch.previous[left], left);
    }
  }
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ids[i] != kNoToken) {
      ids[kept] = ids[i];
      places[kept] = places[i];
      ++kept;
    }
  }
  symbols.resize(first + kept);
  ends.resize(first + kept);
}

std::size_t MergeTable::size_bytes() const {
  return merges_.size() * sizeof(Merge) + table_.size() * sizeof(std::uint64_t);
}

}  // namespace laya::text

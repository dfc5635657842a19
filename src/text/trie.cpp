#include "text/trie.h"

#include <algorithm>

namespace laya::text {

Trie::Trie(const Vocabulary& vocabulary) {
  std::vector<TokenId> ids(vocabulary.sorted_normal().begin(), vocabulary.sorted_normal().end());
  ids.insert(ids.end(), vocabulary.sorted_symbols().begin(), vocabulary.sorted_symbols().end());
  std::inplace_merge(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(vocabulary.sorted_normal().size()),
      ids.end(), [&](TokenId a, TokenId b) { return vocabulary.text(a) < vocabulary.text(b); });

  // Breadth first: every node owns a range of the sorted ids that share its first `depth` bytes.
  struct Pending {
    std::uint32_t first, last, depth;
  };
  std::vector<Pending> queue = {{0, static_cast<std::uint32_t>(ids.size()), 0}};
  nodes_.push_back({{0, 0}, kNoToken, 0});
  labels_.push_back(0);
  for (std::size_t node = 0; node < queue.size(); ++node) {
    auto [first, last, depth] = queue[node];
    if (first < last && vocabulary.text(ids[first]).size() == depth && depth > 0) {
      nodes_[node].piece = ids[first];
      nodes_[node].score = vocabulary.score(ids[first]);
      ++first;
    }
    nodes_[node].children = {static_cast<std::uint32_t>(queue.size()), 0};
    while (first < last) {
      const char label = vocabulary.text(ids[first])[depth];
      std::uint32_t end = first + 1;
      while (end < last && vocabulary.text(ids[end])[depth] == label) {
        ++end;
      }
      queue.push_back({first, end, depth + 1});
      nodes_.push_back({{0, 0}, kNoToken, 0});
      labels_.push_back(static_cast<std::uint8_t>(label));
      ++nodes_[node].children.count;
      first = end;
    }
  }

  root_.fill(kNone);
  for (std::uint32_t i = 0; i < nodes_[kRoot].children.count; ++i) {
    const Node node = nodes_[kRoot].children.first + i;
    root_[labels_[node]] = node;
  }
}

}  // namespace laya::text

// All pieces of a vocabulary by their bytes, for finding every piece that text starts with.
// Children of a node lie side by side, sorted by byte; no hashing, no pointers, ~1 MB for 16 k
// pieces. Immutable, safe to share between threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace laya::text {

class Trie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = 0xFFFFFFFFu;

  /// Indexes Normal and Symbol pieces.
  explicit Trie(const Vocabulary& vocabulary);

  /// The node one byte further down, or kNone.
  Node child(Node node, std::uint8_t byte) const {
    if (node == kRoot) {
      return root_[byte];
    }
    const Span span = nodes_[node].children;
    // Fan-out is small below the root (median 1): a linear scan beats a binary search.
    for (std::uint32_t i = span.first; i < span.first + span.count; ++i) {
      if (labels_[i] >= byte) {
        return labels_[i] == byte ? i : kNone;
      }
    }
    return kNone;
  }

  /// The piece that ends at `node`, or kNoToken; and its score (0 for a Symbol, so that it always
  /// wins).
  TokenId piece(Node node) const { return nodes_[node].piece; }
  float score(Node node) const { return nodes_[node].score; }

  /// Calls visit(id, length) for each piece that `text` starts with, shortest first.
  template <typename Visit>
  void for_each_prefix(std::string_view text, Visit visit) const {
    Node node = kRoot;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<std::uint8_t>(text[i]));
      if (node == kNone) {
        return;
      }
      if (piece(node) != kNoToken) {
        visit(piece(node), i + 1);
      }
    }
  }

  std::size_t node_count() const { return nodes_.size(); }

 private:
  struct Span {
    std::uint32_t first;
    std::uint32_t count;
  };
  struct NodeData {
    Span children;
    TokenId piece;
    float score;
  };

  std::vector<NodeData> nodes_;       // breadth first; a node's children are consecutive
  std::vector<std::uint8_t> labels_;  // [node] the byte that leads to it
  std::array<Node, 256> root_;
};

}  // namespace laya::text

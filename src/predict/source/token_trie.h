// A small trie of tokens with shared prefixes: drafts of a ghost, candidates of a sentence. Nodes
// are numbered in the order they were made, so a parent comes before its children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/token_id.h"

namespace laya::predict {

class TokenTrie {
 public:
  static constexpr std::int32_t kTop = -1;   ///< where every path begins; no node of its own
  static constexpr std::int32_t kNone = -2;  ///< no such node

  struct Node {
    std::int32_t parent;
    TokenId token;
    std::int32_t first_child = kNone;
    std::int32_t next_sibling = kNone;
  };

  void clear() {
    nodes_.clear();
    first_top_ = kNone;
  }
  void reserve(std::size_t nodes) { nodes_.reserve(nodes); }
  std::size_t size() const { return nodes_.size(); }
  const Node& operator[](std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)]; }

  std::int32_t first_child(std::int32_t node) const {
    return node == kTop ? first_top_ : (*this)[node].first_child;
  }
  std::int32_t find(std::int32_t parent, TokenId token) const {
    std::int32_t node = first_child(parent);
    while (node != kNone && (*this)[node].token != token) {
      node = (*this)[node].next_sibling;
    }
    return node;
  }
  /// The child of `parent` by `token`, made if it is not there.
  std::int32_t add(std::int32_t parent, TokenId token) {
    const std::int32_t found = find(parent, token);
    if (found != kNone) {
      return found;
    }
    const auto node = static_cast<std::int32_t>(nodes_.size());
    const std::int32_t sibling = first_child(parent);
    nodes_.push_back({parent, token, kNone, sibling});
    if (parent == kTop) {
      first_top_ = node;
    } else {
      nodes_[static_cast<std::size_t>(parent)].first_child = node;
    }
    return node;
  }
  /// Makes the whole path; returns its last node (kTop for an empty one).
  std::int32_t add_path(std::int32_t parent, std::span<const TokenId> tokens) {
    for (const TokenId token : tokens) {
      parent = add(parent, token);
    }
    return parent;
  }

  /// The last tokens of `before`, which the trie stands behind, and of the path to `node` behind
  /// it: as many as fit in `space`; a view of it.
  std::span<const TokenId> last_tokens(std::span<const TokenId> before, std::int32_t node,
                                       std::span<TokenId> space) const {
    std::size_t first = space.size();
    for (; node != kTop && first > 0; node = (*this)[node].parent) {
      space[--first] = (*this)[node].token;
    }
    for (std::size_t i = before.size(); i > 0 && first > 0; --i) {
      space[--first] = before[i - 1];
    }
    return space.subspan(first);
  }

 private:
  std::vector<Node> nodes_;
  std::int32_t first_top_ = kNone;
};

}  // namespace laya::predict

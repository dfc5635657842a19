// DeepTree: the decoder at the caret. The root is the text's fixed front; nodes are tokens beyond
// it that were looked into. Each knows its successors' probabilities, all of them.
//
// Nothing is computed twice: when the text grows along nodes that are there already, they become
// part of the root without a pass; when it is taken back, hidden states that are still remembered
// save one. One per session; no allocation after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cancel_flag.h"
#include "base/result.h"
#include "base/token_id.h"
#include "model/decoder/decoder.h"
#include "model/decoder/kv_cache.h"
#include "model/decoder/prefix_cache.h"
#include "predict/deep/deep_index.h"

namespace laya::predict {

class DeepTree {
 public:
  static constexpr std::size_t kMaxNodes = 40;
  static constexpr int kRootNode = -1;
  static constexpr int kNone = -2;
  static constexpr std::size_t kBest = 12;

  /// A token that was looked into.
  struct Node {
    int parent;  ///< node, or kRootNode
    TokenId token;
    model::KvNodeId cache_node;
    float ends;  ///< probability that no letter follows: a word that ends here is over
    std::array<TokenId, kBest> going_on;  ///< the likeliest tokens that go on inside a word
    std::uint8_t going_on_count;
  };
  struct Growth {
    int parent;
    TokenId token;
  };

  /// Both must outlive the tree. `context_tokens`: the longest root. `sharpness` multiplies the
  /// scores (1: as the decoder gives them).
  DeepTree(const model::Decoder& decoder, const DeepIndex& index, model::Threads threads,
           std::size_t context_tokens, float sharpness);
  ~DeepTree();
  DeepTree(const DeepTree&) = delete;
  DeepTree& operator=(const DeepTree&) = delete;

  /// From now on texts that were left are kept in `prefixes`, and what is known there is not read
  /// again. Of the same decoder and context_tokens; must outlive the tree.
  void share(model::PrefixCache* prefixes);
  /// Another session's text comes: leaves the present one to its owner's prefixes, keeps the first
  /// `tokens` of the root (they hold no user's text) and stores for `next` from now on.
  void hand_over(model::PrefixCache::Owner next, std::size_t tokens);

  /// Forgets all but the first `tokens` of the root, and what it left in the shared prefixes.
  void clear(std::size_t tokens = 0);
  /// What a move does with the text that it leaves. Drop: it will not come back as it is.
  enum class Leave : std::uint8_t { Keep, Drop };
  /// Makes `wanted` (not empty) the root; nodes on the way are used, all others dropped. On an
  /// error, Cancelled included, the root is unknown (ready() is false) and what was read is kept
  /// for the next call.
  Status move_to(std::span<const TokenId> wanted, const base::CancelFlag* cancel,
                 Leave leave = Leave::Keep);
  /// move_to(wanted) would change nothing.
  bool is_at(std::span<const TokenId> wanted) const;
  bool ready() const { return ready_; }
  /// Another number whenever root or nodes are others than before.
  std::uint64_t version() const { return version_; }

  std::span<const Node> nodes() const { return nodes_; }
  int find(int parent, TokenId token) const;
  std::size_t free_nodes() const { return kMaxNodes - nodes_.size(); }
  /// Looks into 1…16 tokens (none of them there yet, ≤ free_nodes(); a parent may be an earlier one
  /// of the same call: nodes().size() + its index) in one pass. On an error nothing has changed.
  Status grow(std::span<const Growth> growths, const base::CancelFlag* cancel);

  /// p(token | node), all tokens [V].
  std::span<const float> probs(int node) const {
    return node == kRootNode ? std::span<const float>(root_probs_)
                             : std::span<const float>(probs_).subspan(
                                   static_cast<std::size_t>(node) * width_, width_);
  }
  float probability(int node, TokenId token) const {
    return node == kRootNode ? root_probs_[token]
                             : probs_[static_cast<std::size_t>(node) * width_ + token];
  }

  model::KvCache& cache() { return cache_; }
  model::Workspace& workspace() { return *workspace_; }

  std::uint64_t passes() const { return passes_; }
  std::uint64_t columns() const { return columns_; }
  std::uint64_t heads() const { return heads_; }

 private:
  struct Known {
    std::size_t length;
    std::size_t slot;
  };
  static constexpr std::size_t kRemembered = 24;

  Status feed(std::span<const TokenId> wanted, const base::CancelFlag* cancel, Leave leave);
  void keep(std::size_t read);
  void cut(std::size_t tokens);
  void look_up(std::span<const TokenId> wanted);
  Status compute_root();
  void commit(int node);
  void remember();
  void look_at(Node* node, std::span<const float> probs) const;
  void drop_lost_nodes();

  const model::Decoder* decoder_;
  const DeepIndex* index_;
  float sharpness_;
  std::unique_ptr<model::Workspace> workspace_;
  model::KvCache cache_;
  std::size_t width_;  // V
  std::size_t dim_;    // d
  model::PrefixCache* prefixes_ = nullptr;
  model::PrefixCache::Owner owner_ = model::PrefixCache::kNobody;
  std::vector<TokenId> fed_;        // main sequence
  std::vector<float> root_hidden_;  // [d]
  bool root_hidden_known_ = false;
  std::vector<float> root_probs_;  // [V]
  std::vector<Node> nodes_;
  std::vector<float> hidden_;        // [kMaxNodes, d]
  std::vector<float> probs_;         // [kMaxNodes, V]
  std::vector<Known> known_;         // hidden states of earlier roots, by length, ascending
  std::vector<float> known_hidden_;  // [kRemembered, d]
  bool ready_ = false;
  std::uint64_t version_ = 0;
  std::uint64_t passes_ = 0;
  std::uint64_t columns_ = 0;
  std::uint64_t heads_ = 0;
};

}  // namespace laya::predict

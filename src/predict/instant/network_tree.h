// NetworkTree: model states beyond the caret, as a small tree of pieces. The root is the text; a
// node is the text plus some pieces.
//
// Candidates and ghost share it, so nothing is computed twice: "don" needed for "don't" is there
// when the ghost wants it, and when the user types on, the next root is often a node already. Up to
// 16 nodes are made in one pass over the weights. No allocation after
// construction. One per session.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "model/gru/language_model.h"

namespace laya::predict {

using NodeId = std::int32_t;
inline constexpr NodeId kRoot = -1;
inline constexpr NodeId kNoNode = -2;

class NetworkTree {
 public:
  /// 64 nodes of 13 KiB each.
  static constexpr std::size_t kMaxNodes = 64;

  struct Growth {
    NodeId parent;
    TokenId token;
  };

  /// `network` must outlive the tree.
  NetworkTree(const model::LanguageModel& network, model::Threads threads);

  /// Makes `state` the root: its successors' probabilities are computed (one pass over the
  /// embedding) and all nodes dropped. On error the root is empty: ready() is false.
  Status set_root(const model::State& state);
  bool ready() const { return ready_; }
  void clear();

  /// ln p(token | root), all tokens [V].
  std::span<const float> root_log_probs() const { return root_log_probs_; }

  NodeId find(NodeId parent, TokenId token) const;
  std::size_t free_nodes() const { return kMaxNodes - used_; }
  /// Makes the nodes asked for (1…16, at most free_nodes(), none of them there yet) in one pass;
  /// the first gets the id that first_new() gave before. `log_probs`, if not empty, [growths, V]:
  /// ln p of all successors of each. On error the tree is as before.
  Status grow(std::span<const Growth> growths, std::span<float> log_probs = {});
  NodeId first_new() const { return static_cast<NodeId>(used_); }
  /// Drops the nodes from `first` on (a ghost's, so that the next search has room).
  void drop_from(NodeId first);

  /// ln p(token | node). O(e) the first time, then remembered. On a model error: −∞.
  float log_prob(NodeId node, TokenId token);

  /// ln p of all successors of one node into `log_probs` [V]; one pass over the embedding.
  Status successors(NodeId node, std::span<float> log_probs);

  /// Σ p(token | node) over `tokens`, which must be the same list at every call: the sum is kept
  /// with the node. −1 on a model error.
  float sum_of(NodeId node, std::span<const TokenId> tokens);

  const model::State& state(NodeId node) const {
    return node == kRoot ? root_state_ : states_[static_cast<std::size_t>(node)];
  }
  model::Workspace& workspace() { return *workspace_; }
  const model::LanguageModel& network() const { return *network_; }
  std::uint64_t passes() const { return passes_; }
  void count_pass() { ++passes_; }

 private:
  struct Node {
    NodeId parent;
    TokenId token;
    float log_z;
    float sum;  ///< of sum_of(); below 0: not computed
  };
  struct Remembered {
    std::uint32_t generation = 0;
    NodeId node = kNoNode;
    TokenId token = kNoToken;
    float log_prob = 0;
  };
  static constexpr std::size_t kRemembered = 2048;

  const model::LanguageModel* network_;
  std::unique_ptr<model::Workspace> workspace_;
  model::State root_state_;
  std::vector<float> root_log_probs_;  // [V]
  std::vector<Node> nodes_;
  std::vector<model::State> states_;  // [kMaxNodes]
  std::vector<float> hidden_;         // [16, e]
  std::vector<float> sum_logits_;     // scratch of sum_of()
  std::vector<Remembered> remembered_;
  std::uint32_t generation_ = 1;
  std::size_t used_ = 0;
  bool ready_ = false;
  std::uint64_t passes_ = 0;
};

}  // namespace laya::predict

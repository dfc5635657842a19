// The instant tier's network over the readings of a sentence: one tree of texts behind the context,
// each node computed once, whatever many readings begin with it.
//
// A node is a text, character by character. Naming it costs nothing; compute() brings its state, up
// to sixteen nodes a pass over the weights. States of nodes not used for long are given up and
// computed again when wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel_flag.h"
#include "base/token_id.h"
#include "model/gru/language_model.h"
#include "predict/engine/engine.h"

namespace laya::predict {

/// One thread. Allocates when constructed only.
class PinyinNetwork {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;  ///< the context itself
  /// Texts in the tree, 24 bytes each. A sentence names some 70 a letter and needs 20 to 40 of them
  /// afterwards: enough for PinyinSearch::kMaxLetters once keep_only() has thrown out the rest.
  static constexpr std::size_t kMaxNodes = 32768;
  static constexpr std::size_t kStates = 320;  ///< 15 KiB each with the shipped network
  /// Most nodes that one compute() may be asked for, those on the way to them included.
  static constexpr std::size_t kMaxWanted = 128;

  /// `engine` has a network, and outlives this.
  explicit PinyinNetwork(const Engine& engine);

  /// The text that all readings follow. What it adds to the last one is read; another text is read
  /// from its beginning, the last kContextTokens of it. Forgets all nodes but the root.
  /// Cancelled: the root is of no use until the next call that ends well.
  Status set_context(std::string_view before, const base::CancelFlag* cancel = nullptr);
  static constexpr std::size_t kContextTokens = 128;

  std::size_t nodes() const { return nodes_.size(); }
  /// Forgets all nodes but those of `kept`, and what is above them; their numbers change, and stand
  /// in `kept` afterwards. States stay. O(kMaxNodes), no pass.
  void keep_only(std::span<Node> kept);
  /// The node of `parent`'s text and `token`. The caller sees to it that nodes() stays below
  /// kMaxNodes; in a full tree all new texts are the root.
  Node child(Node parent, TokenId token);
  bool is_computed(Node node) const { return nodes_[node].state != kNone; }
  Node parent(Node node) const { return nodes_[node].parent; }

  /// Nodes from `node` up whose states are not there, `node` itself included; at most `most`.
  std::size_t missing_above(Node node, std::size_t most) const;

  /// Brings the states of all of `wanted`. Errors: TooLarge beyond kMaxWanted missing ones;
  /// Cancelled (what was computed stays); the network's.
  Status compute(std::span<const Node> wanted, const base::CancelFlag* cancel = nullptr);
  /// Brings the state of `node` however far the next one above is: one pass a token, some 0.2 ms.
  /// Other states may be given up for it. Cancelled.
  Status reach(Node node, const base::CancelFlag* cancel = nullptr);
  /// ln p(token | text of node); `node` is computed. kNoToken gives kUnknownLog.
  Result<float> log_prob(Node node, TokenId token);
  static constexpr float kUnknownLog = -16;  ///< a character that the network spells by bytes

  std::size_t passes() const { return passes_; }
  std::size_t columns() const { return columns_; }

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;
  struct Entry {
    Node parent = 0;
    TokenId token = 0;
    float log_z = 0;
    std::uint16_t state = kNone;
    bool is_kept = false;  // while keep_only() works
  };
  struct Slot {
    Node node = 0;
    std::uint32_t used = 0;  // the compute() that touched it last
  };
  void clear();
  void enter(Node node);
  void touch(Node node) { slots_[nodes_[node].state].used = round_; }
  std::uint16_t free_slot();
  Status pass(std::span<const Node> nodes);

  const model::LanguageModel* network_;
  const text::Tokenizer* tokenizer_;
  std::unique_ptr<model::Workspace> workspace_;
  std::vector<TokenId> context_;
  std::vector<TokenId> wanted_context_;
  std::vector<Entry> nodes_;
  std::vector<std::uint32_t> table_;  // hash of (parent, token) ▶ node + 1
  std::vector<model::State> states_;
  std::vector<Slot> slots_;
  std::vector<Node> missing_;
  std::vector<float> hidden_;
  std::uint32_t round_ = 0;
  std::uint16_t next_slot_ = 1;
  std::size_t passes_ = 0;
  std::size_t columns_ = 0;
  bool started_ = false;
};

}  // namespace laya::predict

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

#include "base/token_id.h"
#include "model/gru/language_model.h"
#include "predict/engine/engine.h"

namespace laya::predict {

/// One thread. Allocates when constructed only.
class PinyinNetwork {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;  ///< the context itself
  static constexpr std::size_t kMaxNodes = 32768;
  static constexpr std::size_t kStates = 320;  ///< 15 KiB each with the shipped network
  /// Most nodes that one compute() may be asked for, those on the way to them included.
  static constexpr std::size_t kMaxWanted = 128;

  /// `engine` has a network, and outlives this.
  explicit PinyinNetwork(const Engine& engine);

  /// The text that all readings follow. What it adds to the last one is read; another text is read
  /// from its beginning, the last kContextTokens of it. Forgets all nodes but the root.
  Status set_context(std::string_view before);
  static constexpr std::size_t kContextTokens = 128;

  /// Forgets all nodes but the root.
  void clear();
  std::size_t nodes() const { return nodes_.size(); }
  /// The node of `parent`'s text and `token`; kRoot where kMaxNodes are there (clear() then).
  Node child(Node parent, TokenId token);
  bool is_computed(Node node) const { return nodes_[node].state != kNone; }
  Node parent(Node node) const { return nodes_[node].parent; }

  /// Errors: TooLarge beyond kMaxWanted; the network's.
  Status compute(std::span<const Node> wanted);
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
  };
  struct Slot {
    Node node = 0;
    std::uint32_t used = 0;  // the compute() that touched it last
  };
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

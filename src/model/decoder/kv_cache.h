// One session's keys and values: what a decoder remembers of a text. The counterpart of State.
//
//   KvCache cache(decoder.config());
//   decoder.prefill(*ws, cache, tokens, hidden);          // main sequence: 64 tokens
//   const Column ideas[] = {{kRoot, a}, {0, b}, {kRoot, c}};  // a, a b, c
//   decoder.grow(*ws, cache, ideas, hidden3);             // a tree that hangs off its end
//   cache.commit(1);                                      // "a b" were right: 66 tokens, no pass
//
// The main sequence is a ring of the last `capacity_tokens`; positions are absolute. A token
// attends to itself and the capacity_tokens - 1 before it (fewer in sliding layers). Nothing here
// computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "model/decoder/decoder_config.h"
#include "simd/kernel_types.h"

namespace laya::model {

/// How keys and values are kept.
enum class KvType : std::uint8_t {
  F16,
  F32,
  Int8,  ///< one fp32 scale a head and token: half of F16's memory
};

struct KvOptions {
  std::uint32_t capacity_tokens = 512;  ///< 1..65536
  std::uint32_t tree_nodes = 256;       ///< 0..4096
  KvType type = KvType::F16;
  std::uint32_t undo_tokens = 64;  ///< so many can be taken back once the ring is full; 0..65536

  friend bool operator==(const KvOptions&, const KvOptions&) = default;
};

/// A node of the tree of speculative tokens, numbered from 0 in the order of growth.
using KvNodeId = std::int32_t;
/// Parent of a node that continues the main sequence.
inline constexpr KvNodeId kRoot = -1;

/// One token to compute: it follows `parent`.
struct Column {
  KvNodeId parent = kRoot;
  TokenId token = 0;
};

/// Belongs to one thread at a time. Memory is reserved at construction and touched as it fills.
class KvCache {
 public:
  /// BadArgument or TooLarge (beyond 4 GiB) naming the field; `config` is checked too.
  static Status check(const DecoderConfig& config, const KvOptions& options);

  /// Requires check() to succeed.
  explicit KvCache(const DecoderConfig& config, const KvOptions& options = {});
  KvCache(KvCache&&) noexcept = default;
  KvCache& operator=(KvCache&&) noexcept = default;

  const KvOptions& options() const { return options_; }
  /// Tokens of the main sequence so far, forgotten ones included.
  std::size_t length() const { return length_; }

  /// Takes the main sequence back to its first n tokens (n <= length()) and drops the tree. O(1).
  /// Returns the length now: n, or 0 where tokens that position n should attend to were overwritten
  /// (only possible once length() has passed the capacity; the last undo_tokens can always be
  /// taken back). The caller then prefills from there.
  std::size_t truncate(std::size_t n);
  /// The least n > 0 that truncate() grants; 1 until something was overwritten.
  std::size_t truncatable_to() const;

  /// Becomes the first n tokens of `from` (the tree is dropped): how sessions fork. BadArgument,
  /// with nothing changed, where `from` is of another shape or KvType, is shorter than n, forgot
  /// tokens that this cache would have, or n exceeds one capacity while the two differ.
  Status copy_prefix(const KvCache& from, std::size_t n);

  std::size_t node_count() const { return nodes_.size(); }
  KvNodeId parent(KvNodeId node) const { return nodes_[static_cast<std::size_t>(node)].parent; }
  TokenId token(KvNodeId node) const { return nodes_[static_cast<std::size_t>(node)].token; }
  /// Nodes on the way from the root to `node`, itself included: its position is length() + depth
  /// - 1.
  std::size_t depth(KvNodeId node) const;
  /// Drops `node` and every later one.
  void drop_nodes_from(KvNodeId node);
  void clear_tree() { nodes_.clear(); }
  /// The path from the root to `node` becomes part of the main sequence, the tree is cleared: as if
  /// those tokens had been prefilled, bit for bit. `node` must exist (kRoot: just clears the tree).
  void commit(KvNodeId node);

  /// Memory reserved.
  std::size_t size_bytes() const { return size_bytes_; }

  // ---- for backends ----

  /// One layer's memory, [kv_heads][slots][head_dim], a slot a token (simd/kv_attention.h reads and
  /// writes it).
  simd::KvPlane keys(std::size_t layer) const { return plane(layer, 0); }
  simd::KvPlane values(std::size_t layer) const { return plane(layer, 1); }
  std::size_t layers() const { return layers_; }
  std::size_t kv_heads() const { return kv_heads_; }
  std::size_t head_dim() const { return head_dim_; }
  std::size_t slots() const { return slots_; }

  /// Where the main sequence's token at `position` lies, and a node's.
  std::size_t slot_of_position(std::size_t position) const { return position % ring_; }
  std::size_t slot_of_node(KvNodeId node) const { return ring_ + static_cast<std::size_t>(node); }

  /// The slots that the main sequence's token at `position` (>= length() while it is being added)
  /// attends to, oldest first, its own last. `window` 0: no limit but the capacity. Returns how
  /// many; out.size() >= slots().
  std::size_t context_of_position(std::size_t position, std::size_t window,
                                  std::span<std::uint32_t> out) const;
  /// The same for a node.
  std::size_t context_of_node(KvNodeId node, std::size_t window,
                              std::span<std::uint32_t> out) const;

  /// Before a pass writes the main sequence's positions [length(), length() + n), n <= kMaxColumns.
  void begin_append(std::size_t n);
  /// After it: they count.
  void finish_append(std::size_t n) { length_ += n; }
  /// Adds the nodes of a pass (parents checked by the caller); take them back with
  /// drop_nodes_from(). Returns the first one's id.
  KvNodeId add_nodes(std::span<const Column> columns);

 private:
  struct Node {
    KvNodeId parent;
    TokenId token;
  };
  struct Free {
    void operator()(std::byte* memory) const;
  };

  simd::KvPlane plane(std::size_t layer, std::size_t which) const;
  void copy_slot(std::size_t from, std::size_t to);
  std::size_t first_visible(std::size_t position, std::size_t window) const;

  KvOptions options_;
  std::size_t layers_, kv_heads_, head_dim_;
  std::size_t ring_;   // capacity and what lets 64 tokens be taken back and a chunk be abandoned
  std::size_t slots_;  // ring and tree
  std::size_t data_bytes_;   // of one plane, without scales
  std::size_t plane_bytes_;  // with them
  std::size_t size_bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  std::vector<Node> nodes_;  // capacity reserved
  std::size_t length_ = 0;
  std::size_t written_ = 0;    // one past the last position ever written since kept_from_ was 0
  std::size_t kept_from_ = 0;  // positions before this are overwritten
};

}  // namespace laya::model

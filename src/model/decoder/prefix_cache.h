// Keys and values of beginnings that were computed before, shared by sessions: switching back to a
// conversation, or scoring candidates after the same context, costs a copy instead of a prefill.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "model/decoder/kv_cache.h"

namespace laya::model {

/// Of one decoder and one KvType. Thread-safe; copying happens outside the lock. The least recently
/// used beginnings go when `max_bytes` are exceeded.
class PrefixCache {
 public:
  /// Whose text an entry holds: forget() takes it back. kNobody's holds no user's text.
  using Owner = std::uint64_t;
  static constexpr Owner kNobody = 0;

  /// `options.type` and `options.capacity_tokens` are those of the sessions' caches.
  PrefixCache(const DecoderConfig& config, const KvOptions& options, std::size_t max_bytes);

  /// Fills `into` with the longest stored beginning of `tokens` and returns its length (0: nothing
  /// known; `into` is then empty). The caller prefills the rest. `into` is of the options given.
  std::size_t restore(std::span<const TokenId> tokens, KvCache& into);

  /// The same where at least `least` (> 0) tokens are known; else 0, and `into` is as it was.
  std::size_t restore_more(std::span<const TokenId> tokens, KvCache& into, std::size_t least);

  /// Keeps the main sequence of `from`, which is that of `tokens`. Does nothing (and allocates
  /// nothing) where it is known already, does not fit, or no longer begins at token 0 (the ring has
  /// wrapped).
  void store(std::span<const TokenId> tokens, const KvCache& from, Owner owner = kNobody);
  /// The same for a beginning that all texts share: it stays until clear(), whatever comes.
  void pin(std::span<const TokenId> tokens, const KvCache& from);

  /// A number for somebody who stores.
  Owner new_owner() { return last_owner_.fetch_add(1, std::memory_order_relaxed) + 1; }
  /// Drops what `owner` stored. A longer text of somebody else that begins the same stays.
  void forget(Owner owner);

  std::size_t size_bytes() const;
  std::size_t entries() const;
  void clear();

 private:
  enum class Life : std::uint8_t { WhileThereIsRoom, Pinned };
  struct Entry {
    std::vector<TokenId> tokens;
    KvCache cache;
    Owner owner;
    Life life;
  };
  using Entries = std::list<std::shared_ptr<const Entry>>;

  static std::size_t bytes_of(const Entry& entry);
  Entries::iterator find_whole(std::span<const TokenId> tokens);
  Entries::iterator drop(Entries::iterator entry);
  void add(std::span<const TokenId> tokens, const KvCache& from, Owner owner, Life life);

  const DecoderConfig config_;
  const KvOptions options_;
  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  // shared_ptr: a reader copies from an entry that another thread may evict meanwhile
  Entries entries_;  // most recently used first
  std::size_t bytes_ = 0;
  std::atomic<Owner> last_owner_{kNobody};
};

}  // namespace laya::model

// Keys and values of beginnings that were computed before, shared by sessions: switching back to a
// conversation, or scoring candidates after the same context, costs a copy instead of a prefill.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "model/kv_cache.h"

namespace laya::model {

/// Of one decoder and one KvType. Thread-safe; copying happens outside the lock. The least recently
/// used beginnings go when `max_bytes` are exceeded.
class PrefixCache {
 public:
  /// `options.type` and `options.capacity_tokens` are those of the sessions' caches.
  PrefixCache(const DecoderConfig& config, const KvOptions& options, std::size_t max_bytes);

  /// Fills `into` with the longest stored beginning of `tokens` and returns its length (0: nothing
  /// known; `into` is then empty). The caller prefills the rest. `into` is of the options given.
  std::size_t restore(std::span<const TokenId> tokens, KvCache& into);

  /// Keeps the main sequence of `from`, which is that of `tokens`. Does nothing where it is known
  /// already, does not fit, or no longer begins at token 0 (the ring has wrapped).
  void store(std::span<const TokenId> tokens, const KvCache& from);

  std::size_t size_bytes() const;
  std::size_t entries() const;
  void clear();

 private:
  struct Entry {
    std::vector<TokenId> tokens;
    KvCache cache;
  };

  const DecoderConfig config_;
  const KvOptions options_;
  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  // shared_ptr: a reader copies from an entry that another thread may evict meanwhile
  std::list<std::shared_ptr<const Entry>> entries_;  // most recently used first
  std::size_t bytes_ = 0;
};

}  // namespace laya::model

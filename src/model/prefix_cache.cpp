#include "model/prefix_cache.h"

#include <algorithm>
#include <cassert>

namespace laya::model {
namespace {

std::size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const auto [at, _] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(at - a.begin());
}

}  // namespace

PrefixCache::PrefixCache(const DecoderConfig& config, const KvOptions& options,
                         std::size_t max_bytes)
    : config_(config), options_(options), max_bytes_(max_bytes) {}

std::size_t PrefixCache::restore(std::span<const TokenId> tokens, KvCache& into) {
  std::shared_ptr<const Entry> found;
  std::size_t longest = 0;
  {
    const std::lock_guard lock(mutex_);
    auto best = entries_.end();
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      const std::size_t n = common_prefix(tokens, (*entry)->tokens);
      if (n > longest) {
        longest = n;
        best = entry;
      }
    }
    if (best != entries_.end()) {
      found = *best;
      entries_.splice(entries_.begin(), entries_, best);
    }
  }
  if (found != nullptr && into.copy_prefix(found->cache, longest)) {
    return longest;
  }
  into.truncate(0);
  return 0;
}

void PrefixCache::store(std::span<const TokenId> tokens, const KvCache& from) {
  const std::size_t n = tokens.size();
  if (n == 0 || n != from.length() || n > options_.capacity_tokens) {
    return;
  }
  // As small as it can be: an entry is never grown.
  const KvOptions snug{static_cast<std::uint32_t>(n), 0, options_.type, 0};
  auto entry = std::make_shared<Entry>(
      Entry{std::vector<TokenId>(tokens.begin(), tokens.end()), KvCache(config_, snug)});
  const std::size_t bytes = entry->cache.size_bytes() + n * sizeof(TokenId);
  if (bytes > max_bytes_ || !entry->cache.copy_prefix(from, n)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (auto old = entries_.begin(); old != entries_.end();) {
    const std::size_t shared = common_prefix(tokens, (*old)->tokens);
    if (shared == n) {  // known already
      entries_.splice(entries_.begin(), entries_, old);
      return;
    }
    if (shared == (*old)->tokens.size()) {  // the new one begins with it
      bytes_ -= (*old)->cache.size_bytes() + shared * sizeof(TokenId);
      old = entries_.erase(old);
    } else {
      ++old;
    }
  }
  entries_.push_front(std::move(entry));
  bytes_ += bytes;
  while (bytes_ > max_bytes_) {
    const Entry& last = *entries_.back();
    bytes_ -= last.cache.size_bytes() + last.tokens.size() * sizeof(TokenId);
    entries_.pop_back();
  }
}

std::size_t PrefixCache::size_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t PrefixCache::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void PrefixCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  bytes_ = 0;
}

}  // namespace laya::model

#include "model/decoder/prefix_cache.h"

#include <algorithm>
#include <iterator>

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

std::size_t PrefixCache::bytes_of(const Entry& entry) {
  return entry.cache.size_bytes() + entry.tokens.size() * sizeof(TokenId);
}

// An entry that begins with `tokens`.
PrefixCache::Entries::iterator PrefixCache::find_whole(std::span<const TokenId> tokens) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return common_prefix(tokens, entry->tokens) == tokens.size();
  });
}

PrefixCache::Entries::iterator PrefixCache::drop(Entries::iterator entry) {
  bytes_ -= bytes_of(**entry);
  return entries_.erase(entry);
}

std::size_t PrefixCache::restore(std::span<const TokenId> tokens, KvCache& into) {
  const std::size_t known = restore_more(tokens, into, 1);
  if (known == 0) {
    into.truncate(0);
  }
  return known;
}

std::size_t PrefixCache::restore_more(std::span<const TokenId> tokens, KvCache& into,
                                      std::size_t least) {
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
    if (longest < least || best == entries_.end()) {
      return 0;
    }
    found = *best;
    entries_.splice(entries_.begin(), entries_, best);
  }
  return into.copy_prefix(found->cache, longest) ? longest : 0;
}

void PrefixCache::store(std::span<const TokenId> tokens, const KvCache& from, Owner owner) {
  add(tokens, from, owner, Life::WhileThereIsRoom);
}

void PrefixCache::pin(std::span<const TokenId> tokens, const KvCache& from) {
  add(tokens, from, kNobody, Life::Pinned);
}

void PrefixCache::add(std::span<const TokenId> tokens, const KvCache& from, Owner owner,
                      Life life) {
  const std::size_t n = tokens.size();
  if (n == 0 || n != from.length() || n > options_.capacity_tokens) {
    return;
  }
  const auto is_known = [&] {
    const auto old = find_whole(tokens);
    if (old == entries_.end()) {
      return false;
    }
    entries_.splice(entries_.begin(), entries_, old);
    return true;
  };
  if (life != Life::Pinned) {
    const std::lock_guard lock(mutex_);
    if (is_known()) {
      return;
    }
  }
  // As small as it can be: an entry is never grown.
  const KvOptions snug{static_cast<std::uint32_t>(n), 0, options_.type, 0};
  auto entry = std::make_shared<Entry>(Entry{std::vector<TokenId>(tokens.begin(), tokens.end()),
                                             KvCache(config_, snug), owner, life});
  if (bytes_of(*entry) > max_bytes_ || !entry->cache.copy_prefix(from, n)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (life != Life::Pinned && is_known()) {
    return;  // by another thread, meanwhile
  }
  for (auto old = entries_.begin(); old != entries_.end();) {
    const bool begins_it = common_prefix(tokens, (*old)->tokens) == (*old)->tokens.size();
    old = begins_it && (*old)->life != Life::Pinned ? drop(old) : std::next(old);
  }
  bytes_ += bytes_of(*entry);
  entries_.push_front(std::move(entry));
  for (auto last = entries_.end(); bytes_ > max_bytes_ && last != entries_.begin();) {
    --last;
    if ((*last)->life != Life::Pinned) {
      last = drop(last);
    }
  }
}

void PrefixCache::forget(Owner owner) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); owner != kNobody && entry != entries_.end();) {
    entry = (*entry)->owner == owner ? drop(entry) : std::next(entry);
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

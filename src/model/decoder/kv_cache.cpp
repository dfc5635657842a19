#include "model/decoder/kv_cache.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <string>

#include "model/core/workspace.h"
#include "simd/kv_attention.h"

namespace laya::model {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::uint32_t kMaxCapacity = 1U << 16;
constexpr std::uint32_t kMaxTreeNodes = 4096;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;

simd::KvStorage storage_of(KvType type) {
  return type == KvType::F16   ? simd::KvStorage::Fp16
         : type == KvType::F32 ? simd::KvStorage::Fp32
                               : simd::KvStorage::Int8;
}

std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

struct Sizes {
  std::size_t ring, slots, data_bytes, plane_bytes;
  Sizes(const DecoderConfig& config, const KvOptions& options)
      :  // A chunk that is given up must not have overwritten what the next token attends to.
        ring(std::size_t{options.capacity_tokens} + kMaxColumns + options.undo_tokens),
        slots(ring + options.tree_nodes),
        data_bytes(round_up(simd::kv_plane_bytes(storage_of(options.type), config.kv_heads, slots,
                                                 config.head_dim))),
        plane_bytes(data_bytes +
                    round_up(sizeof(float) * simd::kv_plane_scales(storage_of(options.type),
                                                                   config.kv_heads, slots))) {}
};

Error bad(const std::string& what) { return Error{ErrorCode::BadArgument, "kv cache: " + what}; }

}  // namespace

void KvCache::Free::operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }

Status KvCache::check(const DecoderConfig& config, const KvOptions& options) {
  if (auto status = model::check(config); !status) {
    return status;
  }
  if (options.capacity_tokens < 1 || options.capacity_tokens > kMaxCapacity) {
    return bad("capacity_tokens is " + std::to_string(options.capacity_tokens) +
               ", allowed are 1 to " + std::to_string(kMaxCapacity));
  }
  if (options.tree_nodes > kMaxTreeNodes) {
    return bad("tree_nodes is " + std::to_string(options.tree_nodes) + ", the limit is " +
               std::to_string(kMaxTreeNodes));
  }
  if (options.undo_tokens > kMaxCapacity) {
    return bad("undo_tokens is " + std::to_string(options.undo_tokens) + ", the limit is " +
               std::to_string(kMaxCapacity));
  }
  // 2^18 slots of 2^18 bytes in 2^9 planes: no overflow before this comparison.
  const std::uint64_t bytes = std::uint64_t{2} * config.layers * Sizes(config, options).plane_bytes;
  if (bytes > kMaxBytes) {
    return Error{ErrorCode::TooLarge, "kv cache: " + std::to_string(bytes) + " bytes for " +
                                          std::to_string(options.capacity_tokens) +
                                          " tokens, the limit is " + std::to_string(kMaxBytes)};
  }
  return {};
}

KvCache::KvCache(const DecoderConfig& config, const KvOptions& options)
    : options_(options),
      layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_dim_(config.head_dim) {
  assert(check(config, options));
  const Sizes sizes(config, options);
  ring_ = sizes.ring;
  slots_ = sizes.slots;
  data_bytes_ = sizes.data_bytes;
  plane_bytes_ = sizes.plane_bytes;
  size_bytes_ = 2 * layers_ * plane_bytes_;
  memory_.reset(static_cast<std::byte*>(::operator new(size_bytes_, kAlignment)));
  nodes_.reserve(options.tree_nodes);
}

simd::KvPlane KvCache::plane(std::size_t layer, std::size_t which) const {
  std::byte* const at = memory_.get() + (2 * layer + which) * plane_bytes_;
  const simd::KvStorage storage = storage_of(options_.type);
  return {storage,
          kv_heads_,
          slots_,
          head_dim_,
          at,
          storage == simd::KvStorage::Int8 ? reinterpret_cast<float*>(at + data_bytes_) : nullptr};
}

std::size_t KvCache::truncatable_to() const {
  // Position n attends from n + 1 - capacity on.
  return kept_from_ == 0 ? 1 : kept_from_ + options_.capacity_tokens - 1;
}

std::size_t KvCache::truncate(std::size_t n) {
  assert(n <= length_);
  nodes_.clear();
  if (n == 0 || n < truncatable_to()) {
    length_ = written_ = kept_from_ = 0;
  } else {
    length_ = n;
  }
  return length_;
}

void KvCache::begin_append(std::size_t n) {
  written_ = std::max(written_, length_ + n);
  kept_from_ = std::max(kept_from_, written_ > ring_ ? written_ - ring_ : 0);
}

std::size_t KvCache::first_visible(std::size_t position, std::size_t window) const {
  const std::size_t capacity = options_.capacity_tokens;
  const std::size_t reach = window == 0 ? capacity : std::min(window, capacity);
  return position + 1 > reach ? position + 1 - reach : 0;
}

std::size_t KvCache::context_of_position(std::size_t position, std::size_t window,
                                         std::span<std::uint32_t> out) const {
  std::size_t count = 0;
  for (std::size_t p = first_visible(position, window); p <= position; ++p) {
    out[count++] = static_cast<std::uint32_t>(slot_of_position(p));
  }
  return count;
}

std::size_t KvCache::depth(KvNodeId node) const {
  std::size_t depth = 0;
  for (; node != kRoot; node = parent(node)) {
    ++depth;
  }
  return depth;
}

std::size_t KvCache::context_of_node(KvNodeId node, std::size_t window,
                                     std::span<std::uint32_t> out) const {
  const std::size_t position = length_ + depth(node) - 1;
  const std::size_t first = first_visible(position, window);
  const std::size_t count = position + 1 - first;
  std::size_t at = count;
  for (; node != kRoot && at > 0; node = parent(node)) {
    out[--at] = static_cast<std::uint32_t>(slot_of_node(node));
  }
  for (std::size_t p = first; at > 0 && p < first + at; ++p) {
    out[p - first] = static_cast<std::uint32_t>(slot_of_position(p));
  }
  return count;
}

KvNodeId KvCache::add_nodes(std::span<const Column> columns) {
  assert(nodes_.size() + columns.size() <= options_.tree_nodes);
  const auto first = static_cast<KvNodeId>(nodes_.size());
  for (const Column& column : columns) {
    nodes_.push_back({column.parent, column.token});
  }
  return first;
}

void KvCache::drop_nodes_from(KvNodeId node) {
  if (node >= 0 && static_cast<std::size_t>(node) < nodes_.size()) {
    nodes_.resize(static_cast<std::size_t>(node));
  }
}

void KvCache::commit(KvNodeId node) {
  const std::size_t n = depth(node);
  for (std::size_t done = 0; done < n; ++done) {
    // From the leaf up, so that where a path is longer than the ring the last tokens stay.
    const std::size_t position = length_ + n - 1 - done;
    if (done < ring_) {
      copy_slot(slot_of_node(node), slot_of_position(position));
    }
    node = parent(node);
  }
  begin_append(n);
  finish_append(n);
  nodes_.clear();
}

void KvCache::copy_slot(std::size_t from, std::size_t to) {
  const std::size_t row = simd::kv_plane_bytes(storage_of(options_.type), 1, 1, head_dim_);
  for (std::size_t l = 0; l < layers_; ++l) {
    for (const simd::KvPlane& plane : {keys(l), values(l)}) {
      for (std::size_t h = 0; h < kv_heads_; ++h) {
        const std::size_t base = h * slots_;
        std::memcpy(plane.data + (base + to) * row, plane.data + (base + from) * row, row);
        if (plane.scales != nullptr) {
          plane.scales[base + to] = plane.scales[base + from];
        }
      }
    }
  }
}

Status KvCache::copy_prefix(const KvCache& from, std::size_t n) {
  if (&from == this) {
    return bad("a cache cannot become a prefix of itself: truncate() does that");
  }
  if (from.layers_ != layers_ || from.kv_heads_ != kv_heads_ || from.head_dim_ != head_dim_) {
    return bad("the other one is of another model shape");
  }
  if (from.options_.type != options_.type) {
    return bad("the other one keeps another type of numbers");
  }
  if (n > from.length_) {
    return bad("a prefix of " + std::to_string(n) + " tokens of " + std::to_string(from.length_));
  }
  const std::size_t capacity = options_.capacity_tokens;
  if (capacity != from.options_.capacity_tokens &&
      n > std::min<std::size_t>(capacity, from.options_.capacity_tokens)) {
    return bad("a prefix of " + std::to_string(n) + " tokens between caches of " +
               std::to_string(capacity) + " and " + std::to_string(from.options_.capacity_tokens));
  }
  if (n != 0 && n < from.truncatable_to()) {
    return bad("the other one has forgotten tokens of that prefix");
  }
  const std::size_t first = std::max(from.kept_from_, n > ring_ ? n - ring_ : 0);
  nodes_.clear();
  length_ = written_ = n;
  kept_from_ = first;
  const std::size_t row = simd::kv_plane_bytes(storage_of(options_.type), 1, 1, head_dim_);
  for (std::size_t p = first; p < n;) {
    const std::size_t source = from.slot_of_position(p), target = slot_of_position(p);
    const std::size_t run = std::min({n - p, from.ring_ - source, ring_ - target});
    for (std::size_t l = 0; l < layers_; ++l) {
      for (const auto& [to_plane, from_plane] :
           {std::pair{keys(l), from.keys(l)}, std::pair{values(l), from.values(l)}}) {
        for (std::size_t h = 0; h < kv_heads_; ++h) {
          const std::size_t to = h * slots_ + target, at = h * from.slots_ + source;
          std::memcpy(to_plane.data + to * row, from_plane.data + at * row, run * row);
          if (to_plane.scales != nullptr) {
            std::memcpy(to_plane.scales + to, from_plane.scales + at, run * sizeof(float));
          }
        }
      }
    }
    p += run;
  }
  return {};
}

}  // namespace laya::model

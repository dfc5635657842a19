#include "simd/kv_attention.h"

#include <algorithm>
#include <cassert>

namespace laya::simd {
namespace {

constexpr std::size_t value_bytes(KvStorage storage) {
  switch (storage) {
    case KvStorage::Fp32:
      return 4;
    case KvStorage::Fp16:
      return 2;
    case KvStorage::Int8:
      return 1;
  }
  return 4;
}

[[maybe_unused]] bool is_plane(const KvPlane& plane) {
  return plane.data != nullptr && plane.kv_heads != 0 && plane.slots != 0 &&
         plane.head_dim % 16 == 0 && plane.head_dim >= 16 && plane.head_dim <= 256 &&
         (plane.storage != KvStorage::Int8 || plane.scales != nullptr);
}

}  // namespace

std::size_t kv_plane_bytes(KvStorage storage, std::size_t kv_heads, std::size_t slots,
                           std::size_t head_dim) {
  return value_bytes(storage) * kv_heads * slots * head_dim;
}

std::size_t kv_plane_scales(KvStorage storage, std::size_t kv_heads, std::size_t slots) {
  return storage == KvStorage::Int8 ? kv_heads * slots : 0;
}

void store_kv(const Kernels& kernels, const KvPlane& plane, std::size_t slot,
              std::span<const float> row) {
  const std::size_t n = plane.head_dim;
  assert(is_plane(plane) && slot < plane.slots && row.size() == plane.kv_heads * n);
  for (std::size_t head = 0; head < plane.kv_heads; ++head) {
    const float* x = row.data() + head * n;
    const std::size_t at = head * plane.slots + slot;
    std::byte* to = plane.data + at * n * value_bytes(plane.storage);
    switch (plane.storage) {
      case KvStorage::Fp32:
        std::copy_n(x, n, reinterpret_cast<float*>(to));
        break;
      case KvStorage::Fp16:
        kernels.to_fp16(x, n, reinterpret_cast<std::uint16_t*>(to));
        break;
      case KvStorage::Int8: {
        std::int32_t sum = 0;
        kernels.quantize_column(x, n, n, 1, reinterpret_cast<std::int8_t*>(to), plane.scales + at,
                                &sum);
        break;
      }
    }
  }
}

void load_kv(const Kernels& kernels, const KvPlane& plane, std::size_t kv_head, std::size_t slot,
             std::span<float> out) {
  const std::size_t n = plane.head_dim;
  assert(is_plane(plane) && kv_head < plane.kv_heads && slot < plane.slots && out.size() == n);
  const std::size_t at = kv_head * plane.slots + slot;
  const std::byte* from = plane.data + at * n * value_bytes(plane.storage);
  switch (plane.storage) {
    case KvStorage::Fp32:
      std::copy_n(reinterpret_cast<const float*>(from), n, out.data());
      break;
    case KvStorage::Fp16:
      kernels.from_fp16(reinterpret_cast<const std::uint16_t*>(from), n, out.data());
      break;
    case KvStorage::Int8:
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = plane.scales[at] * static_cast<float>(std::to_integer<std::int8_t>(from[i]));
      }
      break;
  }
}

void kv_attention(const Kernels& kernels, const KvAttentionArgs& args) {
  assert(is_plane(args.keys) && is_plane(args.values));
  assert(args.keys.kv_heads == args.values.kv_heads);
  assert(args.keys.head_dim == args.values.head_dim);
  assert(args.heads % args.keys.kv_heads == 0 && args.first_head <= args.last_head &&
         args.last_head <= args.heads);
  assert(args.count >= 1 && args.slots != nullptr && args.scratch != nullptr);
  assert(std::all_of(args.slots, args.slots + args.count, [&args](std::uint32_t slot) {
    return slot < args.keys.slots && slot < args.values.slots;
  }));
  kernels.kv_attention(args);
}

}  // namespace laya::simd

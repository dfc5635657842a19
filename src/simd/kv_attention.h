// Attention of a decoder over its keys and values, with grouped queries (Ainslie et al. 2023): head
// h reads the keys and values of kv head h / (heads / kv_heads).
//
// A layer keeps its keys and its values in two planes [kv_heads][slots][head_dim]; which token is
// in which slot is the caller's business. The result depends on what the slots hold and on the
// order of the list, never on where the slots lie: a ring that wrapped, a branch of a tree and the
// same tokens in one row give the same bits, and so do any split of the heads and, but for a few
// ulp, every CPU.
#pragma once

#include <cstdint>
#include <span>

#include "simd/kernels.h"

namespace laya::simd {

/// Bytes of a plane's data: 4, 2 or 1 a value.
std::size_t kv_plane_bytes(KvStorage storage, std::size_t kv_heads, std::size_t slots,
                           std::size_t head_dim);

/// Scales of a plane: kv_heads * slots for Int8, 0 otherwise.
std::size_t kv_plane_scales(KvStorage storage, std::size_t kv_heads, std::size_t slots);

/// Stores one token's keys (or values), [kv_heads * head_dim], in slot `slot`. Int8: scale = max|x|
/// / 127 a head, codes -127..127, to nearest; NaN and infinity spoil the scale, so that they show
/// in the attention. Two threads may store different slots at once.
void store_kv(const Kernels& kernels, const KvPlane& plane, std::size_t slot,
              std::span<const float> row);

/// Slot `slot` of one kv head as fp32; out.size() == head_dim.
void load_kv(const Kernels& kernels, const KvPlane& plane, std::size_t kv_head, std::size_t slot,
             std::span<float> out);

/// Floats of scratch that kv_attention needs for lists of up to `count` slots; one buffer a thread.
constexpr std::size_t kv_attention_scratch(std::size_t count) { return kKvHeadsAtOnce * count; }

/// For heads h in [first_head, last_head):
///   s_j = scale * (q_h . k_slots[j]),  out_h = sum_j softmax(s)_j v_slots[j],  j = 0..count-1
/// head_dim is a multiple of 16, 16..256; slots[j] < slots of the plane; out overlaps no input.
/// Other heads of `out` are left alone: two threads may share the heads, each with scratch of its
/// own.
void kv_attention(const Kernels& kernels, const KvAttentionArgs& args);

}  // namespace laya::simd

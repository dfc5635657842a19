// Plain data that crosses into the kernels. The files compiled with instruction-set flags include
// this header and kernels.h alone, so neither may hold an inline function: its only copy in the
// program could then use instructions that the CPU lacks (a test looks for such symbols). Users of
// the room start at ops.h and packing.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace laya::simd {

/// How the weights of a matrix are stored. The numbers are part of the file format.
enum class WeightType : std::uint8_t { Int4 = 4, Int8 = 8, Fp16 = 16, Fp32 = 32 };

/// Whether a quantised group has a minimum of its own: weight = minimum + scale * code; without:
/// scale * (code - centre).
enum class Minima : std::uint8_t { None = 0, PerGroup = 1 };

inline constexpr std::size_t kBlockRows =
    16;  ///< rows interleaved into one block: the int32 lanes of a 512-bit register
inline constexpr std::size_t kQuad =
    4;  ///< columns interleaved: the bytes one dot-product lane sums
inline constexpr std::size_t kMaxColumns = 16;  ///< vectors one product takes at once
inline constexpr int kCentreInt8 = 128;         ///< code of weight 0 in Int8 without minima
inline constexpr int kCentreInt4 = 8;           ///< the same in Int4

/// A checked view of a packed matrix (packing.h makes it and documents the layout). It owns
/// nothing: the bytes, usually an mmapped file, must outlive it. Copy freely; any number of threads
/// may read through it.
struct PackedMatrix {
  const std::byte* data = nullptr;  ///< 64-byte aligned; blocks * block_bytes bytes
  std::size_t rows = 0;             ///< rows that mean something
  std::size_t cols = 0;             ///< columns that mean something
  std::size_t padded_cols = 0;      ///< cols rounded up to `group`; cols itself for Fp16 and Fp32
  std::size_t blocks = 0;           ///< ceil(rows / 16)
  std::size_t groups = 0;           ///< padded_cols / group; 0 for Fp16 and Fp32
  std::size_t group = 0;            ///< 32, 64 or 128; 0 for Fp16 and Fp32
  std::size_t block_bytes = 0;      ///< distance between two blocks, a multiple of 64
  std::size_t minima_offset =
      0;  ///< in a block: where the fp16 minima begin; 0 when there are none (scales are at 0)
  std::size_t codes_offset = 0;  ///< in a block: where the codes (or floats) begin
  WeightType type = WeightType::Fp32;
  Minima minima = Minima::None;
};

/// Vectors ("columns") prepared for products; activations.h owns the memory. Interleaved by column,
/// so that a kernel for n columns needs one pointer: codes[quad][column][4], scales[group][column],
/// sums[group][column].
struct ActivationView {
  const float* values =
      nullptr;  ///< fp32, column c at values + c * value_stride; read by Fp16/Fp32 matrices
  std::size_t value_stride = 0;
  std::size_t length = 0;              ///< elements of a column
  std::size_t columns = 0;             ///< 1..16
  std::size_t group = 0;               ///< elements that share one scale; 0: not quantised
  const std::int8_t* codes = nullptr;  ///< -127..127, zero beyond `length`
  const float* scales = nullptr;       ///< value ~= scale * code
  const std::int32_t* sums = nullptr;  ///< sum of the group's codes
  const std::int8_t* row_codes =
      nullptr;  ///< the codes again, column c from row_codes + c * row_stride on; null unless the
                ///< table asks for them (Kernels::row_codes_from)
  std::size_t row_stride = 0;
  const float* weighted_sums = nullptr;  ///< scale * sum: the factor of a group's minimum
};

/// One product: out[c * out_stride + r] = bias[r] + sum_k weights[r][k] * x[c][k].
struct MatmulArgs {
  PackedMatrix weights;
  ActivationView x;
  const float* bias = nullptr;  ///< `rows` values, or null for none
  float* out = nullptr;
  std::size_t out_stride = 0;  ///< floats between two columns of the output
};

/// Attention of one new token over a ring of the last `window` tokens (ops.h documents it).
struct WindowAttentionArgs {
  std::size_t heads = 0;
  std::size_t head_dim = 0;
  std::size_t window = 0;         ///< slots of the ring, 1..64
  std::size_t newest = 0;         ///< slot of the new token's key and value
  std::size_t count = 0;          ///< tokens present, the new one included: 1..window
  const float* query = nullptr;   ///< [heads * head_dim]
  const float* keys = nullptr;    ///< [window][heads * head_dim]
  const float* values = nullptr;  ///< [window][heads * head_dim]
  const float* relative_bias =
      nullptr;           ///< [heads][window], by distance 0 (the new token) .. window-1
  float* out = nullptr;  ///< [heads * head_dim]
};

/// How keys and values of past tokens are stored.
enum class KvStorage : std::uint8_t { Fp32, Fp16, Int8 };

/// The keys or the values of one layer, by slot: [kv_heads][slots][head_dim]. A view: it owns
/// nothing (kv_attention.h makes and documents it).
struct KvPlane {
  KvStorage storage = KvStorage::Fp16;
  std::size_t kv_heads = 0;
  std::size_t slots = 0;
  std::size_t head_dim = 0;
  std::byte* data = nullptr;  ///< float, fp16 or int8
  float* scales = nullptr;    ///< Int8: [kv_heads][slots], value = scale * code; null otherwise
};

/// Attention of one token over the slots in a list (kv_attention.h documents it).
struct KvAttentionArgs {
  KvPlane keys;
  KvPlane values;
  std::size_t heads = 0;                 ///< query heads, a multiple of kv_heads
  std::size_t first_head = 0;            ///< heads [first_head, last_head) are computed
  std::size_t last_head = 0;             ///
  float scale = 1.0f;                    ///< factor on q . k
  const std::uint32_t* slots = nullptr;  ///< oldest first, the token's own last
  std::size_t count = 0;                 ///< slots in the list, at least 1
  const float* query = nullptr;          ///< [heads * head_dim]
  float* out = nullptr;                  ///< [heads * head_dim]
  float* scratch = nullptr;              ///< kKvHeadsAtOnce * count floats, one a thread
};

inline constexpr std::size_t kKvHeadsAtOnce = 4;  ///< query heads that read a key together

}  // namespace laya::simd

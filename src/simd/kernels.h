// The table of kernels: one per instruction set, all with the same answers. Callers hold a `const
// Kernels&` and go through ops.h, which checks shapes; the raw pointers here are for ops.cpp, tests
// and benchmarks.
//
// Quantised products are the same on every CPU to the last bit: integer dot products are exact, and
// the float part is one fused multiply-add per group in the order of the groups. The element-wise
// functions agree to a few ulp.
#pragma once

#include "simd/kernel_types.h"

namespace laya::simd {

/// All members are set in every table. Every function is thread-safe and allocates nothing.
struct Kernels {
  const char* name;            ///< "scalar", "avx2", "avx2-vnni", "avx512-vnni", "avx512-amx",
                               ///< "neon-dotprod"
  std::size_t row_codes_from;  ///< columns from which products read ActivationView::row_codes;
                               ///< more than kMaxColumns: never

  /// Rows of blocks [first, last). Blocks are 16 rows.
  void (*matmul_blocks)(const MatmulArgs& args, std::size_t first, std::size_t last);
  /// Rows rows[0..count): out[c * out_stride + i] is row rows[i]; the same bits as matmul_blocks
  /// gives.
  void (*matmul_rows)(const MatmulArgs& args, const std::uint32_t* rows, std::size_t count);
  /// Row `row` as fp32, `cols` values.
  void (*dequantize_row)(const PackedMatrix& matrix, std::size_t row, float* out);
  /// One column to int8: per group of `group`, scale = max|x| / 127; length is padded with zeros to
  /// a group. Quad q goes to codes[q * columns * 4], group g to scales[g * columns] and sums[g *
  /// columns].
  void (*quantize_column)(const float* x, std::size_t length, std::size_t group,
                          std::size_t columns, std::int8_t* codes, float* scales,
                          std::int32_t* sums);

  void (*rms_norm)(const float* x, const float* weight, float eps, std::size_t n, float* out);
  void (*softmax)(const float* x, std::size_t n, float* out);
  float (*log_sum_exp)(const float* x, std::size_t n);
  std::size_t (*top_k)(const float* x, std::size_t n, std::size_t k, std::uint32_t* indices,
                       float* values);
  void (*exp)(const float* x, std::size_t n, float* out);
  void (*sigmoid)(const float* x, std::size_t n, float* out);
  void (*tanh)(const float* x, std::size_t n, float* out);
  void (*gru_gates)(const float* gi, const float* gh, const float* h, std::size_t n, float* out);
  void (*window_attention)(const WindowAttentionArgs& args);
  void (*kv_attention)(const KvAttentionArgs& args);
  /// Rotates `heads` vectors of head_dim floats in place; cosines and sines have head_dim / 2.
  void (*rope)(float* x, std::size_t heads, std::size_t head_dim, const float* cosines,
               const float* sines);
  void (*silu_gate)(const float* gate, const float* up, std::size_t n, float* out);
  void (*gelu_gate)(const float* gate, const float* up, std::size_t n, float* out);
  void (*add)(const float* x, std::size_t n, float* accumulator);
  void (*scale)(float* x, std::size_t n, float factor);
  bool (*all_finite)(const float* x, std::size_t n);
  void (*to_fp16)(const float* x, std::size_t n, std::uint16_t* out);
  void (*from_fp16)(const std::uint16_t* x, std::size_t n, float* out);
  /// Reads every byte of data (64-byte aligned) in the fastest plain way; returns a checksum of the
  /// 64-bit words (xor).
  std::uint64_t (*stream_read)(const std::byte* data, std::size_t size_bytes);
};

}  // namespace laya::simd

// What the room offers: the operations of a small recurrent model on one CPU. Each takes the
// kernels to use, checks its shapes (assert: a wrong shape is our bug, never the user's) and calls
// the kernel. Nothing allocates; everything is thread-safe as long as two calls do not write the
// same output.
#pragma once

#include <cstdint>
#include <span>

#include "simd/activations.h"
#include "simd/kernels.h"

namespace laya::simd {

class ThreadPool;

// ---- products ----

/// out[c][r] = bias[r] + sum_k weights[r][k] * x[c][k]; weights are read once for all columns
/// (1..16). x.length == weights.cols; for Int8/Int4 x.group == weights.group. Column c of the
/// output begins at out[c * out_stride]; out_stride >= rows where there is more than one column.
/// `bias` has `rows` values or is empty. Column c has the same bits whether it is multiplied alone
/// or with others, in whole or by rows.
struct MatmulJob {
  const PackedMatrix* weights;
  const Activations* x;
  std::span<const float> bias;
  std::span<float> out;
  std::size_t out_stride = 0;  ///< may stay 0 for one column
};

/// The whole product on the calling thread.
void matmul(const Kernels& kernels, const MatmulJob& job);

/// Several independent products at once, shared out over the pool's threads in one parallel region:
/// put products that do not wait for each other (w_ih and w_hh) into one call. Small ones stay on
/// the calling thread.
void matmul(const Kernels& kernels, ThreadPool& pool, std::span<const MatmulJob> jobs);

/// Only `rows`, in any order, repeats allowed: job.out[c * out_stride + i] is row rows[i], the same
/// bits as the whole product. The cost is that of the distinct 16-row blocks met in a row, so
/// sorted lists are cheaper; out holds rows.size() a column.
void matmul_rows(const Kernels& kernels, const MatmulJob& job, std::span<const std::uint32_t> rows);

/// Row `row` of a packed matrix (an embedding) as fp32; out.size() == cols.
void dequantize_row(const Kernels& kernels, const PackedMatrix& matrix, std::size_t row,
                    std::span<float> out);

// ---- on vectors of n floats; `out` may be `x` unless said otherwise ----

/// out = x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich 2019).
void rms_norm(const Kernels& kernels, std::span<const float> x, std::span<const float> weight,
              float eps, std::span<float> out);

/// The same for each of rows of weight.size() values that follow each other in x (the heads of a
/// query, the columns of a pass): x.size() is a multiple of weight.size().
void rms_norm_rows(const Kernels& kernels, std::span<const float> x, std::span<const float> weight,
                   float eps, std::span<float> out);

/// out = exp(x - max) / sum. Empty stays empty. Entries of -inf get 0; if all are -inf, the result
/// is uniform.
void softmax(const Kernels& kernels, std::span<const float> x, std::span<float> out);

/// log(sum(exp(x))), stable. -inf for empty or all -inf.
float log_sum_exp(const Kernels& kernels, std::span<const float> x);

/// The min(k, n) largest of x, largest first, ties by smaller index; NaN is never chosen.
/// indices.size() == values.size() == k, 0 <= k <= 256. Returns how many were written (fewer than k
/// only where x has fewer numbers).
std::size_t top_k(const Kernels& kernels, std::span<const float> x,
                  std::span<std::uint32_t> indices, std::span<float> values);

void exp(const Kernels& kernels, std::span<const float> x, std::span<float> out);
void sigmoid(const Kernels& kernels, std::span<const float> x, std::span<float> out);
void tanh(const Kernels& kernels, std::span<const float> x, std::span<float> out);

/// Rotary positions in place (Su et al. 2021; the halves of a head are paired, as in GPT-NeoX). x
/// is [heads][2 * cosines.size()]; for i < half: x[i] = x[i] cos[i] - x[i + half] sin[i] and
/// x[i + half] = x[i + half] cos[i] + x[i] sin[i], with the old x on the right.
void rope(const Kernels& kernels, std::span<float> x, std::span<const float> cosines,
          std::span<const float> sines);

/// out = silu(gate) * up, silu(g) = g * sigmoid(g). `out` may be `gate` or `up`.
void silu_gate(const Kernels& kernels, std::span<const float> gate, std::span<const float> up,
               std::span<float> out);

/// out = gelu(gate) * up with the tanh form, gelu(g) = g / 2 * (1 + tanh(sqrt(2 / pi) * (g +
/// 0.044715 g^3))) (Hendrycks and Gimpel 2016). `out` may be `gate` or `up`.
void gelu_gate(const Kernels& kernels, std::span<const float> gate, std::span<const float> up,
               std::span<float> out);

/// The GRU cell after its two products (PyTorch's form, rows ordered r, z, n): gi, gh have 3n
/// values with their biases in; r = sigmoid(gi_r + gh_r), z = sigmoid(gi_z + gh_z), c = tanh(gi_n +
/// r * gh_n), out = (1 - z) * c + z * h. `out` may be `h`.
void gru_gates(const Kernels& kernels, std::span<const float> gi, std::span<const float> gh,
               std::span<const float> h, std::span<float> out);

/// One new token attends to itself and to the count-1 tokens before it. The ring holds keys and
/// values by slot, [window][heads * head_dim]; the token j steps back is in slot (newest + window -
/// j) % window.
///   s_j = q . k_j / sqrt(head_dim) + relative_bias[head][j],  j = 0..count-1;  out = sum_j
///   softmax(s)_j v_j
/// The bias is added inside; no score is stored. out must not overlap the inputs. window <= 64.
void window_attention(const Kernels& kernels, const WindowAttentionArgs& args);

/// accumulator += x.
void add(const Kernels& kernels, std::span<const float> x, std::span<float> accumulator);

/// x *= factor.
void scale(const Kernels& kernels, std::span<float> x, float factor);

/// True if no element is NaN or infinite.
bool all_finite(const Kernels& kernels, std::span<const float> x);

/// IEEE 754 half precision, round to nearest even; overflow becomes infinity.
void to_fp16(const Kernels& kernels, std::span<const float> x, std::span<std::uint16_t> out);
void from_fp16(const Kernels& kernels, std::span<const std::uint16_t> x, std::span<float> out);

/// Reads `bytes` once (64-byte aligned) and returns a checksum: the floor that speed claims are
/// stated against.
std::uint64_t stream_read(const Kernels& kernels, std::span<const std::byte> bytes);

}  // namespace laya::simd

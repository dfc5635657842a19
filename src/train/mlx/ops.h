// The trainer's fused operations on MLX arrays: each is one mlx Primitive with its own backward,
// two threads wide, with oneDNN matrix products. MLX's own CPU ops are scalar and single-threaded,
// so nothing of size [tokens, features] is left to them.
//
// Common rules. Floating point arrays are float32, ids int32, masks uint8. Inputs of any strides
// are accepted (copied when not row-contiguous). Results live on the default CPU stream and are
// lazy like every MLX result. A wrong shape or type throws std::invalid_argument, as MLX's own ops
// do; the trainer turns that into an Error at the room's border. Same inputs and same number of
// threads give bit-identical results. Letters: T time steps, B sequences, N = T*B tokens
// (time-major), V vocabulary, e embedding, d hidden, H heads, k head width, W window. "Leading
// shape" means any number of leading dimensions.
#pragma once

#include <cstdint>

#include "mlx/array.h"
#include "train/mlx/precision.h"

namespace laya::train {

namespace mx = mlx::core;

/// Rows of `embedding` [V,e] at `ids` (int32, any shape): ids.shape + [e]. Gradient to the
/// embedding (dense [V,e]); none to ids. Ids outside [0,V) give a zero row and no gradient.
mx::array embedding_lookup(const mx::array& embedding, const mx::array& ids);

/// x [leading, in] · weightᵀ with weight [out, in]: [leading, out]. Gradients to x and weight.
mx::array linear(const mx::array& x, const mx::array& weight, Precision precision);

/// The same plus bias [out]; gradient to bias as well.
mx::array linear(const mx::array& x, const mx::array& weight, const mx::array& bias,
                 Precision precision);

/// x / sqrt(mean(x²) + eps) * weight over the last dimension; weight [d]. Gradients to x and
/// weight.
mx::array rms_norm(const mx::array& x, const mx::array& weight, float eps);

struct ResidualNorm {
  mx::array sum;     ///< x + delta: the new residual stream
  mx::array normed;  ///< rms_norm(sum) * weight
};

/// Residual add and norm in one pass over memory: use it wherever a residual add is followed by a
/// norm. x and delta [leading, d], weight [d]. Gradients to all three; both results may be used.
ResidualNorm add_rms_norm(const mx::array& x, const mx::array& delta, const mx::array& weight,
                          float eps);

/// GRU over a chunk (formula of the model: PyTorch's, rows ordered r, z, n):
///   gh = w_hh h + b_hh, r = σ(gi_r + gh_r), z = σ(gi_z + gh_z), c = tanh(gi_n + r * gh_n),
///   h ← (1 - z) * c + z * h.
/// gates_x [T,B,3d] is w_ih x + b_ih; h0 [B,d]; w_hh [3d,d]; b_hh [3d]; reset uint8 [T,B]: where
/// not 0, h is set to zero BEFORE step t. Returns h of every step, [T,B,d]; the next chunk's h0 is
/// its last row. d must be a multiple of 16. Gradients to gates_x, h0, w_hh and b_hh.
mx::array gru_sequence(const mx::array& gates_x, const mx::array& h0, const mx::array& w_hh,
                       const mx::array& b_hh, const mx::array& reset, Precision precision);

struct LocalAttention {
  mx::array out;      ///< [T,B,H*k]
  mx::array next_kv;  ///< [W-1,B,2*H*k]: keys and values of the chunk's last W-1 positions, oldest
                      ///< first (no gradient)
  mx::array next_history;  ///< int32 [B]: tokens of the running sequence that the next chunk may
                           ///< look back on (no gradient)
};

/// Causal attention over the last W positions, including the own one:
///   s_j = q_n · k_{n-j} / sqrt(k) + rel_bias[head][j], j = 0..W-1, over the positions of the same
///   sequence; out = Σ softmax(s)_j v_{n-j}.
/// qkv [T,B,3Hk]: q of all heads, then k, then v, head-major. past_kv [W-1,B,2Hk] and history [B]
/// come from the previous chunk (zeros for a start); a row with history h sees only its h newest
/// past entries. reset uint8 [T,B]: a sequence starts at t; nothing before is seen. rel_bias [H,W].
/// Gradients to qkv and rel_bias; the past gets none. k must be a multiple of 16.
LocalAttention local_attention(const mx::array& qkv, const mx::array& past_kv,
                               const mx::array& history, const mx::array& reset,
                               const mx::array& rel_bias);

/// Inverted dropout: zeroes each element with probability `rate`, scales the rest by 1/(1-rate).
/// The mask is a function of `seed` and the element's index alone (counter-based), so that a
/// resumed run repeats it. rate 0 returns x. Gradient to x.
mx::array dropout(const mx::array& x, float rate, std::uint64_t seed);

struct HeadLoss {
  mx::array loss;       ///< scalar: Σ weight * nll / Σ weight (0 where all weights are 0)
  mx::array token_nll;  ///< [N]: -log p(target), nats, unweighted; no gradient flows through it
};

enum class HeadPass {
  Train,     ///< gradients are computed along with the loss (one pass over the logits, none
             ///< recomputed)
  Evaluate,  ///< loss only; asking for a gradient throws
};

/// Softmax cross-entropy of logits = hidden · embeddingᵀ + bias, never storing all logits. hidden
/// [N,e], embedding [V,e], bias [V], targets int32 [N] in [0,V) (others: weight taken as 0),
/// weights [N] >= 0. Gradients of `loss` to hidden, embedding and bias.
HeadLoss softmax_cross_entropy(const mx::array& hidden, const mx::array& embedding,
                               const mx::array& bias, const mx::array& targets,
                               const mx::array& weights, HeadPass pass, Precision precision);

/// The same over a subset of classes, an unbiased estimate of the full partition sum. candidates
/// int32 [C]: distinct ids that hold every target, padding = -1; log_inclusion [C]: log of the
/// probability with which each id was to be in the set. A candidate's logit is lowered by it, save
/// the token's own target (which is there for certain). `CandidateSampler` (sampler.h) makes both
/// arrays. A target that is no candidate has weight 0. Gradients to hidden, embedding (dense [V,e],
/// zero outside the candidates) and bias.
HeadLoss sampled_softmax_cross_entropy(const mx::array& hidden, const mx::array& embedding,
                                       const mx::array& bias, const mx::array& targets,
                                       const mx::array& weights, const mx::array& candidates,
                                       const mx::array& log_inclusion, Precision precision);

}  // namespace laya::train

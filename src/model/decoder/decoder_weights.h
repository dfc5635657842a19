// Where each tensor of a decoder stands: one list of names and shapes for the converter and every
// backend, and the loading of them from a .laya file.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model_file.h"
#include "model/core/aligned_bytes.h"
#include "model/decoder/decoder_config.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/gru_weights.h"
#include "simd/packing.h"

namespace laya::model {

/// All weights of a decoder, immutable once loaded. `Matrix` is how a backend holds a matrix [rows,
/// columns]; vectors are always fp32, empty where the configuration has none. Views only. Norm
/// weights are effective (Gemma's 1 + w is folded); q and k rows are ordered for half-split
/// rotation.
template <typename Matrix>
struct DecoderWeights {
  struct Layer {
    std::span<const float> attn_norm;               ///< [d]
    Matrix q, k, v;                                 ///< [H*hd, d], [KV*hd, d], [KV*hd, d]
    std::span<const float> q_bias, k_bias, v_bias;  ///< qkv_bias
    std::span<const float> q_norm, k_norm;          ///< [hd], qk_norm
    Matrix o;                                       ///< [d, H*hd]
    std::span<const float> attn_post_norm;          ///< [d], post_norms
    std::span<const float> ffn_norm;                ///< [d]
    Matrix gate, up;                                ///< [f, d]
    Matrix down;                                    ///< [d, f]
    std::span<const float> ffn_post_norm;           ///< [d], post_norms
  };

  Matrix embedding;  ///< [V, d]
  std::vector<Layer> layers;
  std::span<const float> final_norm;  ///< [d]
  Matrix head;                        ///< [V, d]; the embedding itself where the file has no head
};

/// Every tensor of a decoder of this shape, in the order in which a pass reads them: embedding,
/// layers, final_norm, and head.weight unless tied (a tied model may have one all the same: the
/// head at another precision).
std::vector<TensorSpec> decoder_tensor_specs(const DecoderConfig& config);

/// Weights and, where tensors had to be converted, the memory that holds them.
struct OwnedPackedDecoder {
  DecoderWeights<simd::PackedMatrix> weights;
  std::vector<AlignedBytes> storage;  ///< moving it keeps the views valid
};
struct OwnedFloatDecoder {
  DecoderWeights<FloatMatrix> weights;
  std::vector<std::vector<float>> storage;
};

/// Packed matrices stay in the file, unread until first used; row-major f32 and f16 are packed as
/// Fp32 and Fp16. Corrupt names the tensor, what it is and what it should be. A packed matrix's
/// numbers are not looked at: a NaN in them shows in the first pass.
Result<OwnedPackedDecoder> load_packed_decoder(const format::ModelFile& file,
                                               const DecoderConfig& config);
/// Every matrix as fp32: for the reference and mlx backends.
Result<OwnedFloatDecoder> load_float_decoder(const format::ModelFile& file,
                                             const DecoderConfig& config);

}  // namespace laya::model

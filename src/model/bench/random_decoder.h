// Decoders with random weights, as files: for tests, for comparing backends over the very same
// bytes, and for speed measurements before anything is downloaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/decoder/decoder_config.h"
#include "model/gru/quantize.h"

namespace laya::model {

/// A small shape of the family, odd on purpose (rows not a multiple of 16, columns not of a group,
/// H * head_dim != d, grouped queries).
DecoderConfig tiny_decoder_config(DecoderFamily family);
/// SmolLM2-135M's shape: 30 layers, d 576, 9/3 heads of 64, ffn 1536, V 49,152.
DecoderConfig smollm2_shape();
/// A decoder of 25 M parameters (issue 4's bar of 1.2 ms a token).
DecoderConfig small_decoder_shape();

/// Writes a .laya (no tokenizer) whose weights depend on `config` and `seed` only: matrices with
/// the variance of trained ones in `precision` (Fp32 means row-major f32), norms around 1, biases
/// small.
Status write_random_decoder(const std::string& path, DecoderFamily family,
                            const DecoderConfig& config, const Precision& precision,
                            std::uint64_t seed = 1);

}  // namespace laya::model

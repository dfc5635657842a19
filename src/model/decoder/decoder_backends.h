// The makers of the decoder backends; decoder_loading.h chooses one.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/decoder/decoder.h"
#include "model/decoder/decoder_weights.h"
#include "simd/kernels.h"

namespace laya::model {

/// Plain fp32 loops, one column after the other: the specification. `config` must be valid and fit
/// `weights`, whose views must outlive the decoder; so in all of these.
std::unique_ptr<Decoder> make_reference_decoder(const DecoderConfig& config,
                                                OwnedFloatDecoder weights);

/// Packed weights through src/simd: what ships.
std::unique_ptr<Decoder> make_cpu_decoder(const DecoderConfig& config, OwnedPackedDecoder weights,
                                          const simd::Kernels& kernels);

/// MLX in fp32; Unsupported in a build without MLX (no_mlx_decoder.cpp).
Result<std::unique_ptr<Decoder>> make_mlx_decoder(const DecoderConfig& config,
                                                  OwnedFloatDecoder weights);

}  // namespace laya::model

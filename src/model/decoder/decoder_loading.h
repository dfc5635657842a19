// From an opened .laya file to a running decoder: every field, and every tensor's presence, kind
// and shape is checked before anything is computed.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/core/backend.h"
#include "model/decoder/decoder.h"

namespace laya::model {

/// Whether the file's "architecture" says that it is a decoder.
bool is_decoder(const format::ModelFile& file);

/// The shape from the file's configuration; Corrupt or Unsupported (another architecture), naming
/// the field.
Result<DecoderConfig> read_decoder_config(const format::ModelFile& file);

/// Builds a decoder over `file`, which must outlive it (weights stay in the mapping and are paged
/// in as they are first read). Matrices may be packed int4/int8/fp16/fp32, or row-major f32/f16,
/// which are packed or unpacked at loading. Errors: BadArgument (Backend{}), Unsupported (another
/// architecture, no MLX; mlx_8bit_backend()), Corrupt (a tensor is missing, has another shape or kind, or holds a
/// NaN), each naming the tensor and what was expected.
Result<std::unique_ptr<Decoder>> load_decoder(const format::ModelFile& file,
                                              const Backend& backend);

}  // namespace laya::model

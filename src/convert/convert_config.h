// The configuration of a foreign checkpoint as a DecoderConfig: from GGUF metadata, config.json,
// params.json or llama2.c's header. A part of convert_source.cpp, apart because each format has its
// own names and defaults.
#pragma once

#include <string>

#include "base/result.h"
#include "format/checkpoint.h"
#include "model/decoder/decoder_config.h"

namespace laya::convert {

/// What the small files of a checkpoint say. Nothing is compared with the tensors yet.
struct StatedConfig {
  model::DecoderFamily family = model::DecoderFamily::Llama;
  model::DecoderConfig config;
  std::string where;    ///< for messages: "FILE", "config.json"
  std::string name;     ///< or ""
  std::string licence;  ///< or ""
};

/// `embedding_rows`: rows of the embedding, for formats that do not state them. Errors: Unsupported
/// (architecture or feature, named with what is supported), Corrupt (field, value).
Result<StatedConfig> gguf_config(const format::GgufFile& file, std::uint64_t embedding_rows);
Result<StatedConfig> hugging_face_config(std::string_view json);
Result<StatedConfig> llama2c_config(const format::Llama2cConfig& header);
/// Meta's params.json beside a consolidated state_dict. It does not state ffn_dim and context.
Result<StatedConfig> params_json_config(std::string_view json, std::uint64_t embedding_rows,
                                        std::uint64_t ffn_rows);

}  // namespace laya::convert

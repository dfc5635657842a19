// The tokenizer that comes with a foreign checkpoint: GGUF's metadata, tokenizer.json beside a
// Hugging Face or MLX folder, tokenizer.bin beside a llama2.c file.
#pragma once

#include "base/result.h"
#include "format/checkpoint.h"
#include "text/subword_tokenizer.h"

namespace laya::convert {

/// Errors: Io (none beside the weights: with the remedy), those of SubwordTokenizer.
Result<text::SubwordTokenizer> read_source_tokenizer(const format::Checkpoint& checkpoint);

}  // namespace laya::convert

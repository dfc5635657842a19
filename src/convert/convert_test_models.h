// For tests only: tiny decoders of each family, written as the formats of others write them (each
// with its own names, row order and norm convention), and a plain evaluation of them that shares
// nothing with the code under test.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/token_id.h"
#include "format/test_checkpoints.h"
#include "model/bench/random_decoder.h"

namespace laya::convert {

/// Weights by our names, rows in half-split order, norms effective: what a `.laya` should hold.
struct TinyModel {
  model::DecoderFamily family;
  model::DecoderConfig config;
  std::map<std::string, std::vector<float>> weights;
};

/// 900 tokens (as testdata/tokenizers), d 64, 3 layers; Gemma slides over 4 tokens in two of them.
TinyModel tiny_model(model::DecoderFamily family);

/// Logits [V] after `tokens`, in double precision, straight from the formulas.
std::vector<double> evaluate(const TinyModel& model, const std::vector<TokenId>& tokens);

/// As llama.cpp's converter writes it: q and k rows interleaved for llama, Gemma's norms as 1 + w.
/// Matrices are stored as `matrices`; a sentencepiece tokenizer of 269 tokens. `changes` replace or
/// add metadata.
std::string tiny_gguf(const TinyModel& model, format::SourceType matrices = format::SourceType::F32,
                      const format::TestMetadata& changes = {});

/// Tensors under Hugging Face's names (Gemma's norms as w); `matrices` MlxAffine quantises those
/// that a group of 32 divides.
std::vector<format::TestTensor> hugging_face_tensors(
    const TinyModel& model, format::SourceType matrices = format::SourceType::F32,
    std::uint32_t bits = 4);
std::string hugging_face_config(const TinyModel& model);

/// Writes config.json, tokenizer.json (from testdata) and the weights into `folder`.
enum class FolderKind { Safetensors, Sharded, Mlx, Torch };
void write_folder(const TinyModel& model, const std::string& folder, FolderKind kind);

/// llama2.c, with tokenizer.bin beside it. Llama only.
void write_llama2c(const TinyModel& model, const std::string& folder, std::uint32_t version);

}  // namespace laya::convert

// What a foreign checkpoint is, in our words: which family, which configuration, and where each of
// our tensors comes from. Knows the names and the conventions of GGUF, Hugging Face (safetensors,
// MLX, PyTorch) and llama2.c; nothing is read but shapes and small files.
//
// Refuses what the decoder cannot compute (Unsupported) and configurations that the tensors
// contradict (Corrupt, naming the field and both values).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/checkpoint.h"
#include "model/decoder/decoder_config.h"

namespace laya::convert {

/// In which order a checkpoint keeps the rows of q and k. The decoder rotates halves (NeoX); files
/// made for the interleaved rotation are sorted back when they are converted, row by row, which
/// leaves quantised groups as they are.
enum class RopeRows : std::uint8_t {
  Halves,       ///< as the decoder wants them
  Interleaved,  ///< row 2i + j of a head is its row j * head_dim / 2 + i
};

/// Whether norm weights are what the norm multiplies with, or that less one.
enum class NormStored : std::uint8_t { Effective, LessOne };

enum class SourceRole : std::uint8_t { Matrix, Vector, Norm };

/// One tensor of the `.laya` file and its source.
struct SourcePart {
  std::string name;  ///< ours: "layers.3.attn.q.weight"
  const format::SourceTensor* tensor = nullptr;
  SourceRole role = SourceRole::Matrix;
  std::uint32_t heads = 0;  ///< > 0: rows are sorted back from RopeRows::Interleaved, so many heads
};

/// Views into the checkpoint, which must outlive it.
struct SourceModel {
  model::DecoderFamily family = model::DecoderFamily::Llama;
  model::DecoderConfig config;
  NormStored norm_stored = NormStored::Effective;
  std::string name;               ///< the checkpoint's own, or its file's
  std::string licence;            ///< as the checkpoint states it, or ""
  std::vector<SourcePart> parts;  ///< in the order in which a pass reads them

  const SourcePart* find(std::string_view part) const;
};

/// Errors: Unsupported (an architecture or a feature that the decoder has not, named), Corrupt (a
/// missing field or tensor, a shape that contradicts the configuration: field, both values).
Result<SourceModel> read_source_model(const format::Checkpoint& checkpoint);

/// The row of the source that row `row` of ours comes from, where rows are interleaved: each head's
/// halves are taken apart.
constexpr std::uint32_t interleaved_row(std::uint32_t row, std::uint32_t head_dim) {
  const std::uint32_t within = row % head_dim, half = head_dim / 2;
  return row - within + (within < half ? 2 * within : 2 * (within - half) + 1);
}

}  // namespace laya::convert

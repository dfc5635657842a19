// One door to every foreign checkpoint: a GGUF file, a Hugging Face folder (safetensors or PyTorch,
// sharded or not), an MLX-community quantised folder, a llama2.c .bin. The kind is found from the
// contents, not from the name.
//
// What `laya convert` (src/train) and the catalogue read. It knows storage, not architectures:
// tensor names are those of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/gguf_file.h"
#include "format/llama2c_file.h"
#include "format/source_tensor.h"

namespace laya::format {

enum class CheckpointKind : std::uint8_t {
  Gguf,
  Safetensors,  ///< file or folder
  Mlx,          ///< safetensors whose config.json has "quantization"
  Torch,
  Llama2c,
};
std::string_view checkpoint_kind_name(CheckpointKind kind);  ///< "gguf", "safetensors", …

/// Small files beside the weights. Move-only like the Checkpoint that owns them.
inline constexpr std::uint64_t kMaxSideFileBytes = 64u << 20;  ///< Gemma's tokenizer.json: 33 MB

/// An open checkpoint. Move-only; moving keeps every view valid. Const members are thread-safe.
class Checkpoint {
 public:
  /// `path`: a file, or a folder that holds one checkpoint (model.safetensors.index.json,
  /// model.safetensors, one *.gguf, pytorch_model.bin.index.json, pytorch_model.bin, or a single
  /// *.safetensors, *.bin, *.pt, *.pth; in that order). For a file the side files are those of its
  /// folder. Errors: those of the readers; Corrupt where two shards hold the same tensor, a shard
  /// lacks what the index promises, or an MLX triple does not fit its config; BadArgument where
  /// nothing is found or two candidates are equally good, with what was looked for.
  static Result<Checkpoint> open(const std::string& path);

  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  CheckpointKind kind() const;
  const std::string& path() const;  ///< as given to open(), for messages

  /// Sorted by name. MLX: each "x.weight" with its "x.scales" and "x.biases" is one MlxAffine
  /// tensor; the two are not listed.
  std::span<const SourceTensor> tensors() const;
  /// Null when there is none of that name.
  const SourceTensor* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The tensor of that name if it has that shape. Errors Corrupt: none, or another shape ("… is
  /// [3, 4], the configuration says [3, 5]"), with path and name.
  Result<const SourceTensor*> tensor(std::string_view name,
                                     std::span<const std::uint64_t> shape) const;

  /// The text of a small file beside the weights ("config.json", "tokenizer.json",
  /// "tokenizer_config.json", "special_tokens_map.json", "generation_config.json",
  /// "tokenizer.model", "tokenizer.bin", …; a plain name). Valid as long as the Checkpoint. Errors:
  /// Io (absent, or none can be beside it), TooLarge, BadArgument (a path instead of a name).
  Result<std::string_view> side_file(std::string_view name) const;
  bool has_side_file(std::string_view name) const;

  /// Null for other kinds.
  const GgufFile* gguf() const;
  const Llama2cConfig* llama2c() const;

 private:
  struct Contents;
  explicit Checkpoint(std::unique_ptr<Contents> contents);

  std::unique_ptr<Contents> contents_;
};

}  // namespace laya::format

// Reads the .bin checkpoints of karpathy's llama2.c: version 0 (seven integers, then fp32), 1
// (magic "ak42", fp32) and 2 (int8 in groups), and its tokenizer.bin. Source: export.py, run.c,
// runq.c of that repository (facts of the layout only).
//
// Tensor names are those of export.py's model: tok_embeddings.weight, output.weight (untied only),
// norm.weight, layers.<l>.{attention_norm, ffn_norm}.weight, layers.<l>.attention.{wq, wk, wv,
// wo}.weight, layers.<l>.feed_forward.{w1, w2, w3}.weight (w1 gate, w3 up, w2 down). The rows of wq
// and wk are in the interleaved RoPE order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

struct Llama2cConfig {
  std::uint32_t version;  ///< 0, 1 or 2
  std::uint32_t dim, hidden_dim, layers, heads, kv_heads, vocabulary_size, max_context;
  bool tied_head;
  std::uint32_t group;  ///< version 2: values per scale; else 0
};

/// An open file. Move-only; moving keeps every view valid. Const members are thread-safe.
class Llama2cFile {
 public:
  /// Errors: Io, TooLarge, Version (an "ak42" of another version), Unsupported (groups that cross
  /// rows), Corrupt (an impossible configuration, or a file that is not exactly as long as it
  /// says).
  static Result<Llama2cFile> open(const std::string& path);
  static Result<Llama2cFile> parse(std::span<const std::byte> bytes, std::string name_for_errors);

  const std::string& path() const { return name_; }
  const Llama2cConfig& config() const { return config_; }
  std::span<const SourceTensor> tensors() const { return tensors_; }
  const SourceTensor* find_tensor(std::string_view name) const;

 private:
  Llama2cFile() = default;
  Status read(std::span<const std::byte> bytes);

  std::string name_;
  base::MappedFile file_;
  Llama2cConfig config_{};
  std::vector<SourceTensor> tensors_;
};

/// tokenizer.bin: for each id its bytes and its merge score. "\n<s>\n" and "\n</s>\n" are ids 1 and
/// 2, "<0x0A>" stands for a byte, a space is a space: export turned ▁ into it.
struct Llama2cTokenizer {
  std::uint32_t max_token_bytes;
  std::vector<std::string> tokens;
  std::vector<float> scores;
};

/// `vocabulary_size` tokens, or, when it is 0, as many as there are. Errors Corrupt.
Result<Llama2cTokenizer> parse_llama2c_tokenizer(std::span<const std::byte> bytes,
                                                 std::uint32_t vocabulary_size,
                                                 std::string_view name_for_errors);

}  // namespace laya::format

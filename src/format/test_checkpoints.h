// For tests only: writes small checkpoints of every foreign kind from fp32 values, so that readers
// and `laya convert` can be tried end to end without anybody's weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "format/source_tensor.h"

namespace laya::format {

/// A tensor to write. `stored`: how. GGUF: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K,
/// Q5_K, Q6_K; safetensors and torch: F32, F16, BF16; MLX: also MlxAffine with bits and group.
/// Quantising is plain rounding to the nearest (no search): good enough for tests.
struct TestTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< outermost first
  std::vector<float> values;
  SourceType stored = SourceType::F32;
  std::uint32_t bits = 4, group = 64;  ///< MlxAffine
};

/// A metadata value of a GGUF file, written with the matching type.
using TestValue = std::variant<std::uint32_t, std::int32_t, float, bool, std::uint64_t, double,
                               std::string, std::vector<std::string>, std::vector<float>,
                               std::vector<std::int32_t>, std::vector<std::uint32_t>>;
using TestMetadata = std::vector<std::pair<std::string, TestValue>>;

/// Each returns the file's bytes.
std::string gguf_bytes(const TestMetadata& metadata, std::span<const TestTensor> tensors,
                       std::uint32_t alignment = 32, std::uint32_t version = 3);
std::string safetensors_bytes(std::span<const TestTensor> tensors);  ///< no MlxAffine
std::string torch_bytes(std::span<const TestTensor> tensors);        ///< zip with data.pkl

/// A zip archive of stored entries (name, data), laid out as torch does.
std::string zip_bytes(std::span<const std::pair<std::string, std::string>> entries);

/// Writes model.safetensors (MlxAffine tensors as .weight, .scales, .biases in F16) and config.json
/// into `folder`. `shards` > 1: model-0000k-of-0000n.safetensors and an index.
Status write_safetensors_folder(const std::string& folder, std::span<const TestTensor> tensors,
                                std::string_view config_json, unsigned shards = 1);

/// A llama2.c file of that version (0, 1, 2) from tensors named as llama2c_file.h says, all F32, in
/// any order. The head is untied where there is an "output.weight".
struct TestLlama2c {
  std::uint32_t version, dim, hidden_dim, layers, heads, kv_heads, vocabulary_size, max_context;
  std::uint32_t group = 32;  ///< version 2
};
std::string llama2c_bytes(const TestLlama2c& config, std::span<const TestTensor> tensors);
std::string llama2c_tokenizer_bytes(std::span<const std::pair<std::string, float>> tokens);

/// A deterministic tensor: values in (−1, 1)·scale from a hash of name and index.
TestTensor test_tensor(std::string name, std::vector<std::uint64_t> shape,
                       SourceType stored = SourceType::F32, float scale = 0.1f);

}  // namespace laya::format

// The shape of a GruLocal model: stacked GRU layers, each followed by attention over the last few
// tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace laya::model {

/// Numbers that fix every tensor's shape. A value; the same in the trainer, in the file and in
/// every backend. The step itself is spelled out in gru_reference_backend.cpp, which is the
/// specification.
struct GruConfig {
  std::uint32_t vocabulary_size = 0;  ///< V: rows of the tied embedding
  std::uint32_t embedding_dim = 0;  ///< e: columns of the embedding, length of the output vector y
  std::uint32_t hidden_dim = 0;     ///< d: width of the residual stream and of each GRU's h
  std::uint32_t layers = 0;         ///< L
  std::uint32_t heads = 0;          ///< H: attention heads a layer
  std::uint32_t head_dim = 0;       ///< k: length of one head's query, key and value
  std::uint32_t window = 0;         ///< W: a token attends to itself and the W-1 tokens before it
  float norm_eps = 1e-5F;           ///< added to the mean square in each root-mean-square norm

  friend bool operator==(const GruConfig&, const GruConfig&) = default;

  /// Length of all heads' queries (or keys, or values) side by side: H * k.
  std::size_t attention_dim() const { return std::size_t{heads} * head_dim; }
  /// Tokens whose keys and values a State keeps: W - 1.
  std::size_t past_tokens() const { return std::size_t{window} - 1; }
  /// All trained numbers.
  std::uint64_t parameter_count() const;
  /// BadArgument naming the field, its value and the limit; limits keep every size far below 2^31.
  Status validate() const;
};

/// The shape that ships: 8.1 M parameters, of which the tied embedding of 16,384 rows holds half.
GruConfig default_gru_config();

}  // namespace laya::model

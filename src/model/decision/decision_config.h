// The shape of a decision model: a small network that chooses among a few answers, from features of
// each candidate or from the last tokens. DECISION.md says what each kind is for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace laya::format {
class ModelFile;
}

namespace laya::model {

enum class DecisionKind : std::uint8_t {
  Ranker,       ///< "mlp_ranker": features of each candidate ▶ one score a candidate
  WindowedMlp,  ///< "windowed_mlp": the last tokens ▶ one logit an action
  Transformer,  ///< "transformer": the same with attention between the tokens
};

/// "mlp_ranker", "windowed_mlp", "transformer": as in the file.
std::string_view decision_kind_name(DecisionKind kind);

/// Numbers that fix every tensor's shape; the same in the trainer, in the file and in both
/// backends. Fields of the other kinds are ignored and not stored. decision_reference.cpp is the
/// specification.
struct DecisionConfig {
  DecisionKind kind = DecisionKind::Ranker;

  std::vector<std::string> features;  ///< Ranker: F names, in the order of the numbers
  std::vector<std::uint32_t> hidden;  ///< Ranker, WindowedMlp: widths of the hidden layers

  std::uint32_t vocabulary_size = 0;  ///< V; the others: tokens are 0..V-1
  std::uint32_t actions = 0;          ///< A: answers to choose from
  std::uint32_t window = 0;           ///< W: newest tokens that count
  std::uint32_t embedding_dim = 0;    ///< e: width of a token's vector (and of the transformer)

  std::uint32_t layers = 0;    ///< Transformer: L
  std::uint32_t heads = 0;     ///< H
  std::uint32_t head_dim = 0;  ///< k: a multiple of 16
  std::uint32_t ffn_dim = 0;   ///< m: width of the gated layer
  float norm_eps = 1e-5F;      ///< added to the mean square in each root-mean-square norm

  friend bool operator==(const DecisionConfig&, const DecisionConfig&) = default;

  std::size_t attention_dim() const { return std::size_t{heads} * head_dim; }
  /// All trained numbers (a ranker's means and scales of features not counted).
  std::uint64_t parameter_count() const;
  /// BadArgument naming the field, its value and the limit.
  Status validate() const;
};

inline constexpr std::size_t kMaxDecisionFeatures = 256;
inline constexpr std::size_t kMaxDecisionWindow = 64;
inline constexpr std::size_t kMaxDecisionActions = 4096;

/// A feature that lies further than this many deviations from its mean counts as this far: what was
/// never seen in training must not decide alone.
inline constexpr float kFarthestFeature = 8.0F;

/// Shapes that suit what DECISION.md lists: 64 and 32 hidden units for a ranker; 8 tokens, 4
/// actions and one layer for the others, unless told otherwise.
DecisionConfig default_ranker_config(std::vector<std::string> features);
DecisionConfig default_windowed_mlp_config(std::uint32_t vocabulary_size, std::uint32_t actions);
DecisionConfig default_transformer_config(std::uint32_t vocabulary_size, std::uint32_t actions);

/// What may be done to a tensor of a decision model.
enum class DecisionRole : std::uint8_t {
  Matrix,  ///< may be quantised
  Small,   ///< always fp32: biases, norms, positions, matrices of one row
};

struct DecisionTensor {
  std::string name;
  std::vector<std::uint32_t> shape;
  DecisionRole role = DecisionRole::Small;

  std::size_t size() const;
};

/// Every tensor, in the order in which a pass reads them. `config` must be valid.
std::vector<DecisionTensor> decision_tensors(const DecisionConfig& config);

/// The numbers of all tensors, in the order of decision_tensors(), row-major.
using DecisionWeights = std::vector<std::vector<float>>;

/// Weights that depend on `config` and `seed` alone, the same on every machine: a start for
/// training, or a model whose speed can be measured. A ranker's means are 0 and its scales 1.
DecisionWeights random_decision_weights(const DecisionConfig& config, std::uint64_t seed);

inline constexpr std::string_view kDecision = "decision";  ///< "architecture" in the metadata

/// The configuration as the metadata's "config" holds it, one JSON object.
std::string decision_config_json(const DecisionConfig& config);

/// Whether the file says that it is a decision model.
bool is_decision_model(const format::ModelFile& file);

/// The shape from the file's metadata; Unsupported (another architecture) or Corrupt, naming the
/// field.
Result<DecisionConfig> read_decision_config(const format::ModelFile& file);

/// Writes fp32 weights as a .laya file. `record_json`, an object or empty, is merged into the
/// metadata ("licence", "training", …); architecture and config stay ours.
Status write_decision_model(const std::string& path, const DecisionConfig& config,
                            const DecisionWeights& weights, std::string_view record_json);

}  // namespace laya::model

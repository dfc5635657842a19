// Running a decision model: a ranker scores candidates by their features, the other kinds choose an
// action from the last tokens. Tens of microseconds on one thread, no allocation, and a cost that
// does not depend on what is typed.
//
//   auto file = format::ModelFile::open(path);
//   auto model = model::DecisionModel::load(std::move(*file));
//   auto workspace = (*model)->make_workspace();
//   (*model)->scores(*workspace, features, scores);     // [n, F] ▶ [n]
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/token_id.h"
#include "format/model_file.h"
#include "model/core/workspace.h"
#include "model/decision/decision_config.h"
#include "simd/kernels.h"

namespace laya::model {

struct DecisionParts;  // weights as the kernels read them; decision_parts.h

/// Immutable once loaded; any number of threads may use it, each with a workspace of its own.
class DecisionModel {
 public:
  /// Takes the file over: weights that are packed stay in its mapping. fp32 tensors run in fp32,
  /// fp16 in fp16, quantised ones as they are. Errors: Unsupported (another architecture), Corrupt
  /// (a tensor is missing, has another shape or kind, holds a NaN), naming file and tensor.
  static Result<std::unique_ptr<const DecisionModel>> load(format::ModelFile file);
  static Result<std::unique_ptr<const DecisionModel>> open(const std::string& path);
  /// With kernels of the caller's choice (tests).
  static Result<std::unique_ptr<const DecisionModel>> load(format::ModelFile file,
                                                           const simd::Kernels& kernels);
  ~DecisionModel();

  const DecisionConfig& config() const;
  /// Bytes of weights that one call reads (embedding rows that no token names not counted).
  std::size_t weights_bytes() const;
  /// Everything that a call needs is allocated here.
  std::unique_ptr<Workspace> make_workspace() const;

  /// Ranker. `features` is [n, F], candidate by candidate, in the order of config().features;
  /// out[i] is candidate i's score, any n (0 too). A candidate's score depends on its own features
  /// alone. Scores are logits beside an imagined "none of these" of score 0: softmax over {0,
  /// scores} gives p(candidate is the right one), which a gate may use. BadArgument: not a ranker,
  /// sizes that do not fit, a feature that is NaN or infinite; Corrupt: the file's weights
  /// overflow. Out is then unspecified: show the candidates in the order that they had. Allocates
  /// only for an error.
  Status scores(Workspace& workspace, std::span<const float> features, std::span<float> out) const;

  /// WindowedMlp and Transformer. `window` holds the last tokens, oldest first; only the newest
  /// config().window count, fewer are fine, none is BadArgument. out has config().actions logits;
  /// softmax makes them probabilities. BadArgument: a ranker, a size that does not fit, a token
  /// that the model does not know; Corrupt: the file's weights overflow.
  Status logits(Workspace& workspace, std::span<const TokenId> window, std::span<float> out) const;

 private:
  explicit DecisionModel(std::unique_ptr<const DecisionParts> parts);
  std::unique_ptr<const DecisionParts> parts_;
};

/// The answers by plain loops over fp32 weights, in double: the specification that the rest is
/// tested against, and slow. The same promises as the members of DecisionModel.
Status reference_scores(const DecisionConfig& config, const DecisionWeights& weights,
                        std::span<const float> features, std::span<float> out);
Status reference_logits(const DecisionConfig& config, const DecisionWeights& weights,
                        std::span<const TokenId> window, std::span<float> out);

/// The weights of a file as fp32, whatever it stores. Errors as DecisionModel::load.
Result<DecisionWeights> load_decision_weights(const format::ModelFile& file,
                                              const DecisionConfig& config);

}  // namespace laya::model

// How far a quantised model is from the exact one, measured on text: bits, and whether the same
// candidates are offered.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "model/gru/language_model.h"
#include "model/gru/quantize.h"

namespace laya::model {

/// Text to measure on: each sequence starts with BOS and is scored from its second token on.
struct MeasuringText {
  std::vector<std::vector<TokenId>> sequences;
  double characters = 0;  ///< code points that the scored tokens stand for; for bits per character
};

/// The design's candidate sets: the five most probable next tokens.
inline constexpr std::size_t kCandidates = 5;

struct Comparison {
  std::size_t tokens = 0;     ///< scored
  double exact_bits = 0;      ///< Σ −log2 p of the exact model
  double quantised_bits = 0;  ///< of the other
  std::size_t contexts = 0;   ///< positions whose candidate sets were compared
  double overlap = 0;         ///< mean share of common candidates, 0…1
  double same_first = 0;      ///< share of contexts whose first candidate is the same
};

/// What the exact model says about `text`, computed once and used against many candidates.
class ExactAnswers {
 public:
  /// Candidate sets are kept at up to `max_contexts` evenly spaced positions. BadArgument without
  /// any scored token.
  static Result<ExactAnswers> compute(const LanguageModel& exact, const MeasuringText& text,
                                      std::size_t max_contexts = 1000);

  /// Runs `model` over the same text.
  Result<Comparison> compare(const LanguageModel& model) const;
  const MeasuringText& text() const { return *text_; }

 private:
  const MeasuringText* text_ = nullptr;  ///< must outlive this
  std::size_t stride_ = 1;               ///< every stride-th scored token is a context
  double bits_ = 0;
  std::size_t tokens_ = 0;
  std::vector<TokenId> candidates_;  ///< [contexts, kCandidates]
};

/// What quantising one matrix alone costs.
struct Sensitivity {
  std::string tensor;
  Precision precision;
  Comparison comparison;
};

/// Every matrix in turn as the recipe says, all others exact; the one that costs the most overlap
/// first.
Result<std::vector<Sensitivity>> measure_sensitivity(const GruConfig& config,
                                                     const FloatWeights& weights,
                                                     const QuantizeRecipe& recipe,
                                                     const ExactAnswers& answers);

/// The next better way to store a matrix: int4 → int8 with the same groups → groups of 32 (3 % more
/// bytes than 64) → fp16 (twice the bytes) → fp32.
Precision raised(const Precision& precision);

}  // namespace laya::model

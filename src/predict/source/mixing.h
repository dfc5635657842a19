// Mixing: how the sources' probabilities become one score.
//
// Network and n-gram table first: p_instant = λ p_net + (1 − λ) p_ngram; then the decoder, where it
// is there: p = δ p_deep + (1 − δ) p_instant. Linear, or log-linear: ln p = λ ln p_net + (1 − λ) ln
// p_ngram (unnormalised; order only). λ and δ depend on language and on how much is known: tokens of context,
// letters typed. Learnt on dev by `laya eval mixing` (evaluate.h), never on test; the numbers and
// the command that learnt them stand in mixing.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace laya::predict {

enum class MixingKind : std::uint8_t { Linear, LogLinear };

/// Shares at one place of the text.
struct Shares {
  float network = 0;      ///< λ, words
  float deep = 0;         ///< δ, words
  float han_network = 0;  ///< the same for Han characters
  float han_deep = 0;
};

struct Mixing {
  static constexpr std::size_t kContextBuckets =
      4;  ///< units of context in this line: 0, 1, 2–3, ≥ 4
  static constexpr std::size_t kPrefixBuckets = 4;  ///< letters typed: 0, 1, 2–3, ≥ 4

  MixingKind word_kind = MixingKind::Linear;
  /// Share of the network, English words: [context bucket][prefix bucket].
  std::array<std::array<float, kPrefixBuckets>, kContextBuckets> word_network{};
  MixingKind han_kind = MixingKind::Linear;
  /// Share of the network, Han characters: [context bucket].
  std::array<float, kContextBuckets> han_network{};

  MixingKind word_deep_kind = MixingKind::Linear;
  /// Share of the decoder, English words: [context bucket][prefix bucket].
  std::array<std::array<float, kPrefixBuckets>, kContextBuckets> word_deep{};
  MixingKind han_deep_kind = MixingKind::Linear;
  /// Share of the decoder, Han characters: [context bucket].
  std::array<float, kContextBuckets> han_deep{};

  /// All shares behind `units` units of context in the line, `letters` typed of the word.
  Shares shares_at(std::size_t units, std::size_t letters) const;
  static std::size_t context_bucket(std::size_t units);
  static std::size_t prefix_bucket(std::size_t letters);
};

/// The weights learnt for the shipped model.
const Mixing& shipped_mixing();

/// The mixed log probability; `network_share` is λ. Inputs are natural logarithms, −∞ allowed.
float mix(MixingKind kind, float network_share, float log_p_network, float log_p_ngram);

}  // namespace laya::predict

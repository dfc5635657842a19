// Mixing: how the network's and the n-gram table's probabilities become one score.
//
// Linear: p = λ p_net + (1 − λ) p_ngram; log-linear: ln p = λ ln p_net + (1 − λ) ln p_ngram
// (unnormalised; order only). λ depends on language and on how much is known: tokens of context,
// letters typed. Learnt on dev by `laya eval mixing` (evaluate.h), never on test; the numbers and
// the command that learnt them stand in mixing.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace laya::predict {

enum class MixingKind : std::uint8_t { Linear, LogLinear };

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

  static std::size_t context_bucket(std::size_t units);
  static std::size_t prefix_bucket(std::size_t letters);
};

/// The weights learnt for the shipped model.
const Mixing& shipped_mixing();

/// The mixed log probability; `network_share` is λ. Inputs are natural logarithms, −∞ allowed.
float mix(MixingKind kind, float network_share, float log_p_network, float log_p_ngram);

}  // namespace laya::predict

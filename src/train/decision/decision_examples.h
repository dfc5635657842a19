// What a model over recent tokens learns from: JSONL, one decision a line, as in
//   {"window":[3,1,4,1,5],"action":2}
// the last tokens, oldest first, and what was right to do then. Tokens and actions are numbers from
// 0 on that mean whatever the user means. Empty lines are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"

namespace laya::train {

inline constexpr std::size_t kMaxExampleTokens = 4096;  ///< of one window, before it is cut

/// Decisions in memory; of each window the newest model::kMaxDecisionWindow tokens.
struct DecisionExamples {
  std::vector<TokenId> tokens;
  std::vector<std::uint32_t> first;   ///< size() + 1 of them
  std::vector<std::uint32_t> action;  ///< by decision
  std::uint32_t vocabulary_size = 0;  ///< largest token + 1
  std::uint32_t actions = 0;          ///< largest action + 1

  std::size_t size() const { return action.size(); }
  std::span<const TokenId> window(std::size_t i) const {
    return std::span(tokens).subspan(first[i], first[i + 1] - first[i]);
  }
  /// Decisions [from, to) alone; vocabulary_size and actions stay.
  DecisionExamples part(std::size_t from, std::size_t to) const;
};

/// Corrupt names `source`, the line and what is wrong there: no JSON object, no such key, an empty
/// window, a number beyond the limits of decision_config.h. No decision at all is Corrupt.
Result<DecisionExamples> parse_decision_examples(std::string_view text, std::string_view source);

}  // namespace laya::train

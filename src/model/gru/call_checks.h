// The argument checks that all backends share, so that each refuses the same calls with the same
// words.
#pragma once

#include <span>

#include "base/result.h"
#include "base/token_id.h"
#include "model/gru/gru_config.h"
#include "model/gru/gru_state.h"

namespace laya::model {

/// See LanguageModel::advance. Also refuses one State given twice.
Status check_advance(const GruConfig& config, std::span<State* const> states,
                     std::span<const TokenId> tokens, std::span<const float> hidden);
/// See LanguageModel::read.
Status check_read(const GruConfig& config, const State& state, std::span<const TokenId> tokens,
                  std::span<const State> after);
/// `out_per_column` is V, the number of rows, or 1.
Status check_scores(const GruConfig& config, std::span<const float> hidden, std::size_t columns,
                    std::size_t out_per_column, std::span<const float> out);
Status check_rows(const GruConfig& config, std::span<const TokenId> rows);

/// What advance and logits say when a result is not finite. `where` is a tensor's name or a stage
/// of the step.
Error not_finite(const char* where);

}  // namespace laya::model

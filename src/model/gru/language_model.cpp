#include "model/gru/language_model.h"

#include "model/gru/call_checks.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {

Status LanguageModel::advance(Workspace& workspace, State& state, TokenId token,
                              std::span<float> hidden) const {
  State* const states[] = {&state};
  const TokenId tokens[] = {token};
  return advance(workspace, std::span<State* const>(states), std::span<const TokenId>(tokens),
                 hidden);
}

Status LanguageModel::read(Workspace& workspace, State& state, std::span<const TokenId> tokens,
                           std::span<State> after) const {
  if (auto status = check_read(config(), state, tokens, after); !status) {
    return status;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (auto status = advance(workspace, state, tokens[i]); !status) {
      return status;
    }
    if (!after.empty()) {
      after[i] = state;
    }
  }
  return {};
}

float log_sum_exp(std::span<const float> x) { return simd::log_sum_exp(simd::best_kernels(), x); }

}  // namespace laya::model

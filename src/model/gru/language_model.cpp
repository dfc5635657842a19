#include "model/gru/language_model.h"

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

float log_sum_exp(std::span<const float> x) { return simd::log_sum_exp(simd::best_kernels(), x); }

}  // namespace laya::model

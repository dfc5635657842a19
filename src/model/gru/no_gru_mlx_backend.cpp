#include "model/gru/gru_mlx_backend.h"

namespace laya::model {

Result<std::unique_ptr<LanguageModel>> make_mlx_model(const GruConfig&, OwnedFloatWeights,
                                                      MlxWeights) {
  return Error{
      ErrorCode::Unsupported,
      "this build has no MLX backend; 'scripts/setup training' brings it, then build again, or use "
      "the cpu backend"};
}

}  // namespace laya::model

#include "model/backends/mlx.h"

#include <utility>

#include "model/decoder/decoder_backends.h"
#include "model/decoder/decoder_loading.h"
#include "model/gru/gru_mlx_backend.h"
#include "model/gru/model_loading.h"
#include "model/gru/weights_loading.h"

namespace laya::model {
namespace {

template <MlxWeights kPrecision>
Result<std::unique_ptr<LanguageModel>> load_network(const format::ModelFile& file) {
  auto config = read_gru_config(file);
  if (!config) return config.error();
  auto weights = load_float_weights(file, *config);
  if (!weights) return weights.error();
  return make_mlx_model(*config, std::move(*weights), kPrecision);
}

Result<std::unique_ptr<Decoder>> load_decoder_file(const format::ModelFile& file) {
  auto config = read_decoder_config(file);
  if (!config) return config.error();
  auto weights = load_float_decoder(file, *config);
  if (!weights) return weights.error();
  return make_mlx_decoder(*config, std::move(*weights));
}

Result<std::unique_ptr<Decoder>> refuse_decoder(const format::ModelFile& file) {
  if (auto config = read_decoder_config(file); !config) return config.error();
  return Error{ErrorCode::Unsupported, "decoders run on: cpu, reference, mlx"};
}

}  // namespace

Backend mlx_backend() { return {"mlx", load_network<MlxWeights::Float32>, load_decoder_file}; }
Backend mlx_8bit_backend() { return {"mlx-8bit", load_network<MlxWeights::Int8>, refuse_decoder}; }

}  // namespace laya::model

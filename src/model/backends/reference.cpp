#include "model/backends/reference.h"

#include <utility>

#include "model/decoder/decoder_backends.h"
#include "model/decoder/decoder_loading.h"
#include "model/gru/model_loading.h"
#include "model/gru/gru_reference_backend.h"
#include "model/gru/weights_loading.h"

namespace laya::model {
namespace {

Result<std::unique_ptr<LanguageModel>> load_network(const format::ModelFile& file) {
  auto config = read_gru_config(file);
  if (!config) return config.error();
  auto weights = load_float_weights(file, *config);
  if (!weights) return weights.error();
  return make_reference_model(*config, std::move(*weights));
}

Result<std::unique_ptr<Decoder>> load_decoder_file(const format::ModelFile& file) {
  auto config = read_decoder_config(file);
  if (!config) return config.error();
  auto weights = load_float_decoder(file, *config);
  if (!weights) return weights.error();
  return make_reference_decoder(*config, std::move(*weights));
}

}  // namespace

Backend reference_backend() { return {"reference", load_network, load_decoder_file}; }

}  // namespace laya::model

#include "model/backends/cpu.h"

#include <utility>

#include "model/decoder/decoder_backends.h"
#include "model/decoder/decoder_loading.h"
#include "model/gru/gru_cpu_backend.h"
#include "model/gru/model_loading.h"
#include "model/gru/weights_loading.h"
#include "simd/dispatch.h"

namespace laya::model {
namespace {

Result<std::unique_ptr<LanguageModel>> load_network(const format::ModelFile& file) {
  auto config = read_gru_config(file);
  if (!config) return config.error();
  auto weights = load_packed_weights(file, *config);
  if (!weights) return weights.error();
  return make_cpu_model(*config, std::move(*weights), simd::best_kernels());
}

Result<std::unique_ptr<Decoder>> load_decoder_file(const format::ModelFile& file) {
  auto config = read_decoder_config(file);
  if (!config) return config.error();
  auto weights = load_packed_decoder(file, *config);
  if (!weights) return weights.error();
  return make_cpu_decoder(*config, std::move(*weights), simd::best_kernels());
}

}  // namespace

Backend cpu_backend() { return {"cpu", load_network, load_decoder_file}; }

}  // namespace laya::model

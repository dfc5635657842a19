// A network from any bytes: loading answers with an error or a model, and what the model computes
// is finite or an error.
#include <cmath>
#include <string>
#include <vector>

#include "format/model_file.h"
#include "format/sample_model.h"
#include "fuzz_target.h"
#include "model/backends/cpu.h"
#include "model/backends/reference.h"
#include "model/gru/language_model.h"
#include "model/gru/model_loading.h"

using laya::ErrorCode;
using laya::TokenId;
using laya::format::Forgery;
using laya::format::ModelFile;
using laya::fuzz::require;

namespace {

bool all_finite(const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

void run(const laya::model::LanguageModel& model) {
  const auto& config = model.config();
  const auto workspace = model.make_workspace();
  laya::model::State state(config);
  std::vector<float> hidden(config.embedding_dim);
  std::vector<float> logits(config.vocabulary_size);
  const TokenId last = config.vocabulary_size - 1;
  for (const TokenId token : {TokenId{1} % config.vocabulary_size, TokenId{0}, last, last}) {
    const laya::Status advanced = model.advance(*workspace, state, token, hidden);
    if (!advanced) {
      require(advanced.error().code == ErrorCode::Corrupt);
      return;
    }
    require(all_finite(hidden));
    const laya::Status scored = model.logits(*workspace, hidden, 1, logits);
    require(scored ? all_finite(logits) : scored.error().code == ErrorCode::Corrupt);
  }
  require(!model.advance(*workspace, state, config.vocabulary_size, hidden));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Forgery input(std::as_bytes(std::span(data, size)));
  input.seal();  // damage of weights passes Structure by itself; that of the directory and metadata
                 // is let through
  const auto file = ModelFile::parse(input.bytes(), laya::format::Verify::Structure, "input");
  if (!file) {
    return 0;
  }
  for (const auto backend : {laya::model::reference_backend(), laya::model::cpu_backend()}) {
    const auto model = laya::model::load_language_model(*file, backend);
    if (model) {
      run(**model);
    } else {
      require(model.error().message.find("input") != std::string::npos);
    }
  }
  return 0;
}

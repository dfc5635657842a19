// A decision model from any bytes: loading answers with an error or a model, and what it computes
// is finite or an error.
#include <cmath>
#include <string>
#include <vector>

#include "format/model_file.h"
#include "format/sample_model.h"
#include "fuzz_target.h"
#include "model/decision/decision_model.h"

using laya::ErrorCode;
using laya::Status;
using laya::TokenId;
using laya::format::Forgery;
using laya::format::ModelFile;
using laya::fuzz::require;

namespace {

void check(const Status& status, const std::vector<float>& answer) {
  if (status) {
    for (const float value : answer) require(std::isfinite(value));
  } else {
    require(status.error().code == ErrorCode::Corrupt);  // the weights overflow
  }
}

void run(const laya::model::DecisionModel& model) {
  const auto& config = model.config();
  const auto workspace = model.make_workspace();
  if (config.kind == laya::model::DecisionKind::Ranker) {
    for (const std::size_t n : {0U, 1U, 17U}) {
      std::vector<float> features(n * config.features.size(), 0.5F), scores(n);
      check(model.scores(*workspace, features, scores), scores);
    }
    return;
  }
  std::vector<float> logits(config.actions);
  const TokenId last = config.vocabulary_size - 1;
  for (const std::size_t n : {std::size_t{1}, std::size_t{config.window} + 1}) {
    const std::vector<TokenId> window(n, last);
    check(model.logits(*workspace, window, logits), logits);
  }
  require(!model.logits(*workspace, {{config.vocabulary_size}}, logits));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Forgery input(std::as_bytes(std::span(data, size)));
  input.seal();  // damage of weights passes Structure by itself; that of the directory and metadata
                 // is let through
  auto file = ModelFile::parse(input.bytes(), laya::format::Verify::Structure, "input");
  if (!file) {
    return 0;
  }
  const auto model = laya::model::DecisionModel::load(std::move(*file));
  if (model) {
    run(**model);
  } else {
    require(model.error().message.find("input") != std::string::npos);
  }
  return 0;
}

// Writes testdata/model/tiny.laya and tiny.golden: make_tiny_model FOLDER. Run it only when the
// model itself changes, and say so.
#include <cstdio>
#include <string>

#include "base/atomic_file.h"
#include "model/bench/random_model.h"
#include "model/gru/golden_vectors.h"

namespace {

laya::Status generate(const std::string& folder) {
  namespace model = laya::model;
  const model::GruConfig config = model::tiny_gru_config();
  model::OwnedFloatWeights weights = model::random_weights(config, model::kGoldenSeed);
  if (auto status =
          model::write_model(folder + "/tiny.laya", config, weights.weights, "make_tiny_model");
      !status) {
    return status;
  }
  const auto reference = model::make_reference_model(config, std::move(weights));
  auto tensors = model::compute_golden(*reference);
  if (!tensors) {
    return tensors.error();
  }
  return laya::base::write_file(folder + "/tiny.golden", model::write_golden(*tensors));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_tiny_model FOLDER\n");
    return 2;
  }
  if (auto status = generate(argv[1]); !status) {
    std::fprintf(stderr, "make_tiny_model: %s\n", status.error().message.c_str());
    return 1;
  }
  return 0;
}

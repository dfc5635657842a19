// For tests only: small decision models of every kind, everything odd about them meant (rows no
// multiple of 16, columns none of a group).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "model/core/split_mix.h"
#include "model/decision/decision_model.h"
#include "model/decision/decision_quantize.h"

namespace laya::model {

inline DecisionConfig tiny_decision_config(DecisionKind kind) {
  if (kind == DecisionKind::Ranker) {
    DecisionConfig config = default_ranker_config({"log_prob", "is_emoji", "length"});
    config.hidden = {19, 7};
    return config;
  }
  DecisionConfig config = kind == DecisionKind::WindowedMlp ? default_windowed_mlp_config(11, 4)
                                                            : default_transformer_config(11, 4);
  config.window = 20;  // more than one pass of columns
  config.embedding_dim = 9;
  config.hidden = {21};
  config.layers = 2;
  config.heads = 2;
  config.ffn_dim = 13;
  if (kind == DecisionKind::WindowedMlp) {
    config.layers = config.heads = config.head_dim = config.ffn_dim = 0;
  } else {
    config.hidden.clear();
  }
  return config;
}

inline constexpr DecisionKind kDecisionKinds[] = {DecisionKind::Ranker, DecisionKind::WindowedMlp,
                                                  DecisionKind::Transformer};

/// Random everywhere, a ranker's means, scales and direct weights too.
inline DecisionWeights odd_weights(const DecisionConfig& config, std::uint64_t seed) {
  DecisionWeights weights = random_decision_weights(config, seed);
  SplitMix random(seed + 1);
  const std::vector<DecisionTensor> tensors = decision_tensors(config);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = tensors[i].name;
    if (name.ends_with("bias") || name.ends_with("norm.weight") || name == "input.mean" ||
        name == "input.scale" || name == "skip.weight") {
      for (float& value : weights[i]) value += 0.3F * random.next();
    }
  }
  return weights;
}

/// The model of a fresh file, stored as `precision` says ("fp32", "int8/32" …).
class StoredDecision {
 public:
  StoredDecision(DecisionKind kind, const std::string& precision, std::uint64_t seed = 3)
      : config(tiny_decision_config(kind)) {
    const Status written =
        write_decision_model(folder.file("fp32"), config, odd_weights(config, seed), "{}");
    EXPECT_TRUE(written) << written.error().message;
    path = folder.file("fp32");
    if (precision != "fp32") {
      QuantizeRecipe recipe;
      recipe.standard = *parse_precision(precision);
      path = folder.file("small");
      const Status small =
          quantize_decision_file(*format::ModelFile::open(folder.file("fp32")), path, recipe);
      EXPECT_TRUE(small) << small.error().message;
    }
    weights = *load_decision_weights(*format::ModelFile::open(path), config);
  }

  std::unique_ptr<const DecisionModel> load(const simd::Kernels& kernels) const {
    auto model = DecisionModel::load(*format::ModelFile::open(path), kernels);
    EXPECT_TRUE(model) << model.error().message;
    return model ? std::move(*model) : nullptr;
  }

  base::TestFolder folder;
  DecisionConfig config;
  std::string path;
  DecisionWeights weights;  ///< as stored
};

}  // namespace laya::model

#include "model/decision/decision_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/allocation_counter.h"
#include "format/model_writer.h"
#include "model/decision/decision_test_models.h"
#include "simd/dispatch.h"

namespace laya::model {
namespace {

std::vector<float> some_features(std::size_t count, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<float> features(count);
  for (float& value : features) value = 3.0F * random.next();
  return features;
}

std::vector<TokenId> some_tokens(std::size_t count) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(static_cast<TokenId>((i * 7 + 2) % 11));
  return tokens;
}

/// Largest distance between the model's answers and the reference's over some questions.
float distance(const DecisionModel& model, const DecisionWeights& weights) {
  const DecisionConfig& config = model.config();
  const auto workspace = model.make_workspace();
  float largest = 0.0F;
  const auto compare = [&](const Status& ours, const Status& theirs, const auto& a, const auto& b) {
    EXPECT_TRUE(ours) << ours.error().message;
    EXPECT_TRUE(theirs) << theirs.error().message;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  };
  for (const std::size_t n : {1U, 2U, 15U, 16U, 17U, 20U, 33U}) {
    if (config.kind == DecisionKind::Ranker) {
      const std::vector<float> features = some_features(n * config.features.size(), n);
      std::vector<float> ours(n), theirs(n);
      compare(model.scores(*workspace, features, ours),
              reference_scores(config, weights, features, theirs), ours, theirs);
    } else {
      const std::vector<TokenId> window = some_tokens(n);
      std::vector<float> ours(config.actions), theirs(config.actions);
      compare(model.logits(*workspace, window, ours),
              reference_logits(config, weights, window, theirs), ours, theirs);
    }
  }
  return largest;
}

TEST(DecisionModel, AgreesWithTheReferenceOnEveryCpuAndPrecision) {
  for (const DecisionKind kind : kDecisionKinds) {
    // Int8 activations cost a little; weights are compared as stored, so their rounding costs
    // nothing.
    for (const auto& [precision, tolerance] :
         {std::pair{"fp32", 2e-5F}, {"fp16", 2e-5F}, {"int8/32", 6e-2F}, {"int4/32m", 6e-2F}}) {
      const StoredDecision stored(kind, precision);
      for (const simd::Kernels* kernels : simd::available_kernels()) {
        SCOPED_TRACE(std::string(decision_kind_name(kind)) + " " + precision + " " + kernels->name);
        const auto model = stored.load(*kernels);
        ASSERT_NE(model, nullptr);
        EXPECT_LT(distance(*model, stored.weights), tolerance);
      }
    }
  }
}

TEST(DecisionModel, ScoresACandidateTheSameAloneAndAmongOthers) {
  for (const char* precision : {"fp32", "int8/32"}) {
    const StoredDecision stored(DecisionKind::Ranker, precision);
    const auto model = stored.load(simd::best_kernels());
    const auto workspace = model->make_workspace();
    const std::size_t n = 37, width = 3;
    const std::vector<float> features = some_features(n * width, 1);
    std::vector<float> together(n);
    ASSERT_TRUE(model->scores(*workspace, features, together));
    for (std::size_t i = 0; i < n; ++i) {
      float alone = 0.0F;
      ASSERT_TRUE(model->scores(*workspace, std::span(features).subspan(i * width, width),
                                std::span(&alone, 1)));
      EXPECT_EQ(alone, together[i]) << i;
    }
    EXPECT_TRUE(model->scores(*workspace, {}, {}));  // nobody is a list too
  }
}

TEST(DecisionModel, CountsAFarFeatureAsTheFarthestKnown) {
  const StoredDecision stored(DecisionKind::Ranker, "fp32");
  const auto model = stored.load(simd::best_kernels());
  const auto workspace = model->make_workspace();
  std::vector<float> far = {1e4F, 0.0F, 0.0F, 1e30F, 0.0F, 0.0F}, scores(2);
  ASSERT_TRUE(model->scores(*workspace, far, scores));
  EXPECT_EQ(scores[0], scores[1]);
}

TEST(DecisionModel, SeesTheNewestTokensOfALongWindowAndTheirOrder) {
  for (const DecisionKind kind : {DecisionKind::WindowedMlp, DecisionKind::Transformer}) {
    const StoredDecision stored(kind, "fp32");
    const auto model = stored.load(simd::best_kernels());
    const auto workspace = model->make_workspace();
    std::vector<TokenId> tokens = some_tokens(50);
    std::vector<float> all(4), newest(4), swapped(4);
    ASSERT_TRUE(model->logits(*workspace, tokens, all));
    ASSERT_TRUE(model->logits(*workspace, std::span(tokens).last(20), newest));
    EXPECT_EQ(all, newest);
    std::swap(tokens[47], tokens[49]);
    ASSERT_TRUE(model->logits(*workspace, tokens, swapped));
    EXPECT_NE(all, swapped);
  }
}

TEST(DecisionModel, AllocatesNothingOnceItsWorkspaceIsThere) {
  for (const DecisionKind kind : kDecisionKinds) {
    for (const char* precision : {"fp32", "int8/32"}) {
      const StoredDecision stored(kind, precision);
      const auto model = stored.load(simd::best_kernels());
      const auto workspace = model->make_workspace();
      const std::vector<float> features = some_features(64 * 3, 1);
      const std::vector<TokenId> window = some_tokens(30);
      std::vector<float> scores(64), logits(4);
      const base::AllocationScope scope;
      for (int i = 0; i < 10; ++i) {
        const Status done = kind == DecisionKind::Ranker
                                ? model->scores(*workspace, features, scores)
                                : model->logits(*workspace, window, logits);
        ASSERT_TRUE(done);
      }
      EXPECT_EQ(scope.count(), 0U) << decision_kind_name(kind) << " " << precision;
    }
  }
}

TEST(DecisionModel, RefusesCallsThatItCannotAnswer) {
  const StoredDecision ranker(DecisionKind::Ranker, "fp32");
  const StoredDecision mlp(DecisionKind::WindowedMlp, "fp32");
  const auto scorer = ranker.load(simd::best_kernels());
  const auto chooser = mlp.load(simd::best_kernels());
  const auto scratch = scorer->make_workspace();
  const auto other = chooser->make_workspace();
  std::vector<float> two(2), four(4), features(6, 0.0F);
  const std::vector<TokenId> tokens = {1, 2};
  const auto refuses = [](const Status& status, const char* word) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::BadArgument);
    EXPECT_NE(status.error().message.find(word), std::string::npos) << status.error().message;
  };
  refuses(scorer->logits(*scratch, tokens, four), "features");
  refuses(chooser->scores(*other, features, two), "tokens");
  refuses(scorer->scores(*scratch, std::span(features).first(5), two), "5 features");
  refuses(scorer->scores(*scratch, features, std::span(two).first(1)), "6 features");
  features[4] = std::numeric_limits<float>::quiet_NaN();
  refuses(scorer->scores(*scratch, features, two), "is_emoji of candidate 1");
  refuses(chooser->logits(*other, {}, four), "at least one token");
  refuses(chooser->logits(*other, tokens, two), "4 actions");
  refuses(chooser->logits(*other, std::vector<TokenId>{1, 11}, four), "below 11");
}

/// What loading says of a file with one tensor changed by `change`.
template <typename Change>
Error error_with(DecisionKind kind, const Change& change) {
  const base::TestFolder folder;
  const DecisionConfig config = tiny_decision_config(kind);
  DecisionWeights weights = odd_weights(config, 1);
  std::vector<DecisionTensor> tensors = decision_tensors(config);
  change(tensors, weights);
  auto writer = format::ModelWriter::create(folder.file("model"));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name.empty()) continue;
    EXPECT_TRUE(writer->add_f32(tensors[i].name, tensors[i].shape, weights[i]));
  }
  EXPECT_TRUE(writer->set_metadata(
      "{\"architecture\":\"decision\",\"config\":" + decision_config_json(config) + "}"));
  EXPECT_TRUE(writer->finish());
  const auto model = DecisionModel::open(folder.file("model"));
  return model ? Error{ErrorCode::Internal, "loaded"} : model.error();
}

TEST(DecisionModel, RefusesFilesWithAWrongTensorAndNamesIt) {
  for (const DecisionKind kind : kDecisionKinds) {
    const std::size_t count = decision_tensors(tiny_decision_config(kind)).size();
    for (std::size_t i = 0; i < count; ++i) {
      std::string name;
      const Error missing = error_with(kind, [&](auto& tensors, auto&) {
        name = tensors[i].name;
        tensors[i].name.clear();
      });
      EXPECT_EQ(missing.code, ErrorCode::Corrupt);
      EXPECT_NE(missing.message.find(name + " is missing"), std::string::npos) << missing.message;
      const Error shape = error_with(kind, [&](auto& tensors, auto& weights) {
        ++tensors[i].shape[0];
        weights[i].resize(tensors[i].size());
      });
      EXPECT_NE(shape.message.find(name + " has shape"), std::string::npos) << shape.message;
      const Error nan = error_with(kind, [&](auto&, auto& weights) {
        weights[i].back() = std::numeric_limits<float>::infinity();
      });
      EXPECT_EQ(nan.code, ErrorCode::Corrupt) << name;
      EXPECT_NE(nan.message.find(name), std::string::npos) << nan.message;
    }
  }
}

TEST(DecisionModel, SaysThatWeightsOverflowRatherThanGivingNumbersThatAreNone) {
  const base::TestFolder folder;
  const DecisionConfig config = tiny_decision_config(DecisionKind::Ranker);
  DecisionWeights weights = odd_weights(config, 1);
  for (std::vector<float>& values : weights) std::ranges::fill(values, 3e38F);
  ASSERT_TRUE(write_decision_model(folder.file("m"), config, weights, ""));
  const auto model = DecisionModel::open(folder.file("m"));
  ASSERT_TRUE(model) << model.error().message;
  float score = 0.0F;
  const Status status = (*model)->scores(
      *(*model)->make_workspace(), std::vector<float>{1.0F, 1.0F, 1.0F}, std::span(&score, 1));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace laya::model

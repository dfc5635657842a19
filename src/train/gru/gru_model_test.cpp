#include "train/gru/gru_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "format/model_file.h"
#include "model/backends/reference.h"
#include "model/gru/model_loading.h"
#include "train/gru/run_checkpoint.h"
#include "train/gru/test_texts.h"

namespace laya::train {
namespace {

const model::GruConfig kConfig{278, 16, 32, 2, 2, 16, 3, 1e-5F};

GruParameters sample_parameters() {
  GruParameters parameters(kConfig);
  parameters.initialise(11, {});
  Random random(3);
  // Biases and norms away from their neutral start, so that a forgotten one shows.
  for (Parameter& tensor : parameters.tensors()) {
    if (tensor.shape.size() == 1 || tensor.name.ends_with("rel_bias")) {
      for (float& value : tensor.value) value += static_cast<float>(random.uniform() - 0.5);
    }
  }
  return parameters;
}

// Three lanes of 12 tokens, with sequences that start in the middle.
Batch sample_batch(std::uint32_t steps) {
  Batch batch{steps, 3, {}, {}};
  Random random(9);
  for (std::uint32_t t = 0; t < steps; ++t) {
    for (std::uint32_t b = 0; b < 3; ++b) {
      const bool starts = t == 0 || (b == 1 && t == 5) || (b == 2 && (t == 3 || t == 4));
      batch.inputs.push_back(starts ? 1 : static_cast<std::int32_t>(3 + random.below(270)));
      batch.targets.push_back(static_cast<std::int32_t>(2 + random.below(270)));
    }
  }
  return batch;
}

Batch rows_of(const Batch& batch, std::uint32_t from, std::uint32_t to) {
  const auto slice = [&](const std::vector<std::int32_t>& values) {
    return std::vector<std::int32_t>(values.begin() + from * batch.lanes,
                                     values.begin() + to * batch.lanes);
  };
  return {to - from, batch.lanes, slice(batch.inputs), slice(batch.targets)};
}

double mean(std::span<const float> values) {
  double sum = 0.0;
  for (float value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(GruModel, AgreesWithTheReferenceBackend) {
  const base::TestFolder folder;
  const GruParameters parameters = sample_parameters();
  const std::vector<std::byte> blob = small_vocabulary().serialize();
  ASSERT_TRUE(export_model(parameters, {blob, "", ""}, folder.file("m.laya")).has_value());
  const format::ModelFile file = format::ModelFile::open(folder.file("m.laya")).value();
  const auto reference = model::load_language_model(file, model::reference_backend()).value();
  const auto workspace = reference->make_workspace();

  const Batch batch = sample_batch(12);
  const std::vector<float> nll = gru_evaluate(parameters, batch, Precision::Fp32).value();
  std::vector<float> logits(kConfig.vocabulary_size);
  for (std::size_t b = 0; b < 3; ++b) {
    model::State state(kConfig);
    for (std::size_t t = 0; t < 12; ++t) {
      const std::size_t i = t * 3 + b;
      if (batch.inputs[i] == 1) state.reset();
      ASSERT_TRUE(
          reference->advance(*workspace, state, static_cast<TokenId>(batch.inputs[i])).has_value());
      ASSERT_TRUE(reference->logits(*workspace, state.output(), 1, logits).has_value());
      const float want =
          model::log_sum_exp(logits) - logits[static_cast<std::size_t>(batch.targets[i])];
      EXPECT_NEAR(nll[i], want, 1e-4F * (1.0F + std::abs(want))) << "step " << t << " lane " << b;
    }
  }
}

TEST(GruModel, StateGoesOnFromChunkToChunk) {
  const GruParameters parameters = sample_parameters();
  const Batch whole = sample_batch(12);
  const std::vector<float> nll = gru_evaluate(parameters, whole, Precision::Fp32).value();
  GruCarry carry = GruCarry::zero(kConfig, 3);
  StepResult result;
  // Chunks shorter and longer than the attention window.
  std::uint32_t at = 0;
  for (std::uint32_t length : {1U, 4U, 2U, 5U}) {
    ASSERT_TRUE(
        gru_step(parameters, rows_of(whole, at, at + length), {}, carry, result).has_value());
    EXPECT_NEAR(result.loss, mean(std::span(nll).subspan(at * 3, length * 3)), 1e-4)
        << "chunk at " << at;
    at += length;
  }
}

TEST(GruModel, GradientIsTheSlopeOfTheLoss) {
  GruParameters parameters = sample_parameters();
  const Batch batch = sample_batch(12);
  StepResult result;
  GruCarry carry = GruCarry::zero(kConfig, 3);
  ASSERT_TRUE(gru_step(parameters, batch, {}, carry, result).has_value());
  const auto loss_of = [&] {
    return mean(gru_evaluate(parameters, batch, Precision::Fp32).value());
  };
  for (std::size_t i = 0; i < parameters.tensors().size(); ++i) {
    SCOPED_TRACE(parameters.tensors()[i].name);
    std::vector<float>& value = parameters.tensors()[i].value;
    const std::vector<float> before = value;
    const std::vector<float>& gradient = result.gradients[i];
    ASSERT_EQ(gradient.size(), value.size());
    double square = 0.0;
    for (float g : gradient) square += double{g} * g;
    ASSERT_GT(square, 0.0) << "nothing reaches this tensor";
    // Along the gradient itself, by central difference: the slope is its norm.
    const double step = 1e-2 / std::sqrt(square);
    double losses[2];
    for (int side : {0, 1}) {
      for (std::size_t j = 0; j < value.size(); ++j) {
        value[j] = before[j] + static_cast<float>((side == 0 ? -step : step) * gradient[j]);
      }
      losses[side] = loss_of();
    }
    value = before;
    EXPECT_NEAR((losses[1] - losses[0]) / (2.0 * step), square, 0.05 * square);
  }
}

TEST(GruModel, SampledHeadOfAllClassesIsTheFullHead) {
  const GruParameters parameters = sample_parameters();
  const Batch batch = sample_batch(12);
  const std::vector<double> uniform(kConfig.vocabulary_size, 1.0);
  const CandidateSampler sampler(uniform, kConfig.vocabulary_size);
  StepOptions sampled;
  sampled.head = HeadKind::Sampled;
  sampled.sampler = &sampler;
  StepResult full_result, sampled_result;
  GruCarry one = GruCarry::zero(kConfig, 3), two = one;
  ASSERT_TRUE(gru_step(parameters, batch, {}, one, full_result).has_value());
  ASSERT_TRUE(gru_step(parameters, batch, sampled, two, sampled_result).has_value());
  EXPECT_NEAR(sampled_result.loss, full_result.loss, 1e-4);
}

TEST(GruModel, DropoutIsAFunctionOfTheSeed) {
  const GruParameters parameters = sample_parameters();
  const Batch batch = sample_batch(12);
  std::vector<double> losses;
  for (std::uint64_t seed : {1, 1, 2}) {
    StepOptions options;
    options.dropout = 0.3F;
    options.seed = seed;
    GruCarry carry = GruCarry::zero(kConfig, 3);
    StepResult result;
    ASSERT_TRUE(gru_step(parameters, batch, options, carry, result).has_value());
    losses.push_back(result.loss);
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_NE(losses[0], losses[2]);
}

TEST(GruModel, PaddingOfDevLinesChangesNothing) {
  const GruParameters parameters = sample_parameters();
  const Batch batch = sample_batch(6);
  Batch padded = batch;
  padded.steps = 10;
  padded.inputs.resize(30, 1);
  padded.targets.resize(30, -1);
  const std::vector<float> want = gru_evaluate(parameters, batch, Precision::Fp32).value();
  const std::vector<float> got = gru_evaluate(parameters, padded, Precision::Fp32).value();
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5F);
}

}  // namespace
}  // namespace laya::train

#include "model/gru/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/test_folder.h"
#include "format/metadata.h"
#include "format/model_writer.h"
#include "model/backends/cpu.h"
#include "model/backends/reference.h"
#include "model/bench/random_model.h"
#include "model/gru/compare_models.h"
#include "model/gru/gru_cpu_backend.h"
#include "model/gru/rotation.h"
#include "model/gru/test_models.h"
#include "simd/dispatch.h"

namespace laya::model {
namespace {

/// 40 short "sentences" of different lengths, some too short to score.
MeasuringText some_text() {
  MeasuringText text;
  for (std::uint32_t s = 0; s < 40; ++s) {
    std::vector<TokenId> sequence;
    for (std::uint32_t i = 0; i < s % 9; ++i) {
      sequence.push_back(i == 0 ? 1 : (s * 17 + i * i * 5) % tiny_gru_config().vocabulary_size);
    }
    text.characters += static_cast<double>(sequence.size());
    text.sequences.push_back(std::move(sequence));
  }
  return text;
}

std::unique_ptr<LanguageModel> packed_model(const FloatWeights& weights,
                                            const QuantizeRecipe& recipe) {
  auto packed = quantize_weights(tiny_gru_config(), weights, recipe);
  EXPECT_TRUE(packed) << packed.error().message;
  return make_cpu_model(tiny_gru_config(), std::move(*packed), simd::best_kernels());
}

QuantizeRecipe all_as(const char* precision) {
  QuantizeRecipe recipe;
  recipe.standard = *parse_precision(precision);
  return recipe;
}

TEST(Precision, IsWrittenAsItIsRead) {
  for (const char* text : {"int4/32", "int4/64m", "int8/128", "int8/64m", "fp16", "fp32"}) {
    const auto precision = parse_precision(text);
    ASSERT_TRUE(precision) << text;
    EXPECT_EQ(precision_text(*precision), text);
  }
  Precision standard;
  standard.group = 32;
  standard.minima = simd::Minima::PerGroup;
  EXPECT_EQ(precision_text(*parse_precision("int8", standard)), "int8/32m");
}

TEST(Precision, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "int5", "int4/16", "int4/", "int8/64x", "int8/m", "fp16/64", "fp16m",
                           "int4/64mm", "int8/640"}) {
    const auto precision = parse_precision(text);
    ASSERT_FALSE(precision) << text;
    EXPECT_EQ(precision.error().code, ErrorCode::BadArgument);
    EXPECT_NE(precision.error().message.find("int4"), std::string::npos);
  }
}

TEST(Quantize, RefusesRecipesForTensorsThatAreNotThere) {
  QuantizeRecipe recipe;
  recipe.exceptions["layers.7.gru.w_hh"] = {};
  const auto status = check_recipe(recipe, tiny_gru_config());
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("layers.1.gru.w_hh"), std::string::npos)
      << status.error().message;
  QuantizeRecipe vector;
  vector.exceptions["out_bias"] = {};
  EXPECT_FALSE(check_recipe(vector, tiny_gru_config()));
  QuantizeRecipe group;
  group.standard.group = 48;
  EXPECT_FALSE(check_recipe(group, tiny_gru_config()));
}

TEST(Quantize, TheFileHoldsWhatWasMeasuredInMemory) {
  const base::TestFolder folder;
  const std::string path = folder.file("quantised.laya");
  const format::ModelFile exact = tiny_file();
  for (const char* precision : {"int8/64", "int4/32m", "int4/128", "fp16"}) {
    SCOPED_TRACE(precision);
    QuantizeRecipe recipe = all_as(precision);
    recipe.exceptions["out_proj.weight"] = *parse_precision("fp16");
    recipe.exceptions["layers.0.gru.w_hh"] = *parse_precision("int8/32");
    const Status written = quantize_file(exact, path, recipe);
    ASSERT_TRUE(written) << written.error().message;
    const auto file = format::ModelFile::open(path, format::Verify::Full);
    ASSERT_TRUE(file) << file.error().message;
    const auto model = load_language_model(*file, cpu_backend());
    ASSERT_TRUE(model) << model.error().message;
    auto weights = load_float_weights(exact, tiny_gru_config());
    ASSERT_TRUE(weights);
    const auto in_memory = packed_model(weights->weights, recipe);
    const auto a = compute_golden(**model), b = compute_golden(*in_memory);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a, *b);
    EXPECT_EQ((*model)->weights_bytes(), in_memory->weights_bytes());
    // The reference backend runs the same file: it differs by the rounding of activations only.
    const auto reference = load_language_model(*file, reference_backend());
    ASSERT_TRUE(reference);
    const auto c = compute_golden(**reference);
    ASSERT_TRUE(c);
    EXPECT_EQ(golden_mismatch(*c, *a, 0.15F, 0.05F), "");
    const auto metadata = format::metadata(*file);
    ASSERT_TRUE(metadata);
    EXPECT_EQ((*metadata)["quantization"]["out_proj.weight"], "fp16");
    EXPECT_EQ((*metadata)["quantization"]["in_proj.weight"], precision);
  }
}

TEST(Quantize, KeepsEverythingElseAndRefusesASecondTime) {
  const base::TestFolder folder;
  const std::string with_blob = folder.file("with_blob.laya"), small = folder.file("small.laya");
  const OwnedFloatWeights weights = random_weights(tiny_gru_config(), 9);
  const std::string vocabulary = "a vocabulary";
  const std::array<float, 3> table = {1, 2, 3};
  {
    auto writer = format::ModelWriter::create(with_blob);
    ASSERT_TRUE(writer);
    for (const TensorSpec& spec : tensor_specs(tiny_gru_config())) {
      ASSERT_TRUE(writer->add_f32(spec.name, spec.shape,
                                  tensor_numbers(tiny_gru_config(), weights.weights, spec.name)));
    }
    ASSERT_TRUE(writer->add_blob("vocabulary", std::as_bytes(std::span(vocabulary))));
    const std::array<std::uint32_t, 1> shape = {3};
    ASSERT_TRUE(writer->add_f32("ngram.table", shape, table));
    ASSERT_TRUE(
        writer->set_metadata("{\"architecture\":\"gru-local\",\"licence\":\"CC0\",\"config\":" +
                             config_json(tiny_gru_config()) + "}"));
    ASSERT_TRUE(writer->finish());
  }
  ASSERT_TRUE(quantize_file(*format::ModelFile::open(with_blob), small, all_as("int4")));
  const auto file = format::ModelFile::open(small);
  ASSERT_TRUE(file);
  const auto blob = file->blob("vocabulary");
  ASSERT_TRUE(blob);
  EXPECT_EQ(std::memcmp(blob->data(), vocabulary.data(), vocabulary.size()), 0);
  EXPECT_TRUE(std::ranges::equal(file->tensor("ngram.table")->as<float>(), table));
  EXPECT_EQ((*format::metadata(*file))["licence"], "CC0");
  const auto again = quantize_file(*file, folder.file("again.laya"), all_as("int8"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::BadArgument);
  EXPECT_NE(again.error().message.find("already"), std::string::npos);
}

TEST(Rotation, LeavesTheModelAsItIs) {
  GruConfig config = tiny_gru_config();
  config.embedding_dim = 32;
  const OwnedFloatWeights weights = random_weights(config, 6);
  const OwnedFloatWeights turned = rotated_embedding(config, weights.weights);
  EXPECT_FALSE(std::ranges::equal(turned.weights.embedding.data, weights.weights.embedding.data));
  const auto run_model = [&](const FloatWeights& chosen) {
    OwnedFloatWeights views;
    views.weights = chosen;
    auto tensors = compute_golden(*make_reference_model(config, std::move(views)));
    EXPECT_TRUE(tensors);
    std::erase_if(*tensors, [](const auto& t) { return t.first.ends_with("output"); });
    return *tensors;  // y is turned; scores and states are not
  };
  EXPECT_EQ(golden_mismatch(run_model(weights.weights), run_model(turned.weights), 2e-4F, 2e-4F),
            "");
}

TEST(Rotation, SavesCandidatesWhereOneDimensionStandsOut) {
  GruConfig config = tiny_gru_config();
  config.embedding_dim = 64;
  OwnedFloatWeights weights = random_weights(config, 6);
  std::vector<float> out_proj(weights.weights.out_proj.data.begin(),
                              weights.weights.out_proj.data.end());
  for (std::size_t k = 0; k < config.hidden_dim; ++k) {
    out_proj[7 * config.hidden_dim + k] *= 30.0F;  // y[7] as trained models have it
  }
  weights.weights.out_proj.data = out_proj;
  const OwnedFloatWeights turned = rotated_embedding(config, weights.weights);
  const auto packed = [&](const FloatWeights& chosen, const char* precision) {
    return make_cpu_model(config, std::move(*quantize_weights(config, chosen, all_as(precision))),
                          simd::best_kernels());
  };
  const MeasuringText text = some_text();
  const auto answers = ExactAnswers::compute(*packed(weights.weights, "fp32"), text);
  ASSERT_TRUE(answers);
  const auto plain = answers->compare(*packed(weights.weights, "int8/64"));
  const auto rotated = answers->compare(*packed(turned.weights, "int8/64"));
  ASSERT_TRUE(plain && rotated);
  EXPECT_GT(rotated->overlap, plain->overlap);
}

TEST(CompareModels, ColumnsDoNotMix) {
  // The batched run over 40 sequences gives what 40 runs of one sequence give.
  const OwnedFloatWeights weights = random_weights(tiny_gru_config(), 5);
  const auto model = packed_model(weights.weights, all_as("fp32"));
  const MeasuringText text = some_text();
  const auto answers = ExactAnswers::compute(*model, text);
  ASSERT_TRUE(answers);
  const auto comparison = answers->compare(*model);
  ASSERT_TRUE(comparison);
  double bits = 0;
  std::size_t tokens = 0;
  const auto workspace = model->make_workspace();
  std::vector<float> scores(tiny_gru_config().vocabulary_size);
  for (const auto& sequence : text.sequences) {
    State state(tiny_gru_config());
    for (std::size_t i = 0; i + 1 < sequence.size(); ++i) {
      ASSERT_TRUE(model->advance(*workspace, state, sequence[i]));
      ASSERT_TRUE(model->logits(*workspace, state.output(), 1, scores));
      bits += (static_cast<double>(log_sum_exp(scores)) - scores[sequence[i + 1]]) / std::log(2.0);
      ++tokens;
    }
  }
  EXPECT_EQ(comparison->tokens, tokens);
  EXPECT_NEAR(comparison->exact_bits, bits, 1e-3);
  EXPECT_EQ(comparison->exact_bits, comparison->quantised_bits);
  EXPECT_EQ(comparison->overlap, 1.0);
  EXPECT_EQ(comparison->same_first, 1.0);
  EXPECT_EQ(comparison->contexts, tokens);  // fewer than 1,000
}

TEST(CompareModels, FewerBitsCostMore) {
  const OwnedFloatWeights weights = random_weights(tiny_gru_config(), 5);
  const MeasuringText text = some_text();
  const auto answers = ExactAnswers::compute(*packed_model(weights.weights, all_as("fp32")), text);
  ASSERT_TRUE(answers);
  double last = 1.0;
  for (const char* precision : {"fp16", "int8/32", "int4/32"}) {
    const auto comparison = answers->compare(*packed_model(weights.weights, all_as(precision)));
    ASSERT_TRUE(comparison);
    EXPECT_LT(comparison->overlap, last + 1e-9) << precision;
    last = comparison->overlap;
  }
  EXPECT_LT(last, 0.99);
}

TEST(CompareModels, NamesTheMatrixThatSpoilsIt) {
  // One matrix as int4, all others fp32: it must come first, and raising it must help.
  const OwnedFloatWeights weights = random_weights(tiny_gru_config(), 5);
  const MeasuringText text = some_text();
  const auto answers = ExactAnswers::compute(*packed_model(weights.weights, all_as("fp32")), text);
  ASSERT_TRUE(answers);
  QuantizeRecipe recipe = all_as("fp32");
  recipe.exceptions["out_proj.weight"] = *parse_precision("int4/128");
  const auto found = measure_sensitivity(tiny_gru_config(), weights.weights, recipe, *answers);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 11U);
  EXPECT_EQ(found->front().tensor, "out_proj.weight");
  EXPECT_LT(found->front().comparison.overlap, 1.0);
  EXPECT_EQ((*found)[1].comparison.overlap, 1.0);
  EXPECT_EQ(precision_text(raised(found->front().precision)), "int8/128");
  EXPECT_EQ(precision_text(raised(*parse_precision("int8/64m"))), "int8/32m");
  EXPECT_EQ(precision_text(raised(*parse_precision("int8/32m"))), "fp16");
}

TEST(CompareModels, RefusesTextWithNothingToScore) {
  const OwnedFloatWeights weights = random_weights(tiny_gru_config(), 5);
  const auto model = packed_model(weights.weights, all_as("int8"));
  MeasuringText text;
  EXPECT_FALSE(ExactAnswers::compute(*model, text));
  text.sequences = {{1}, {}};
  EXPECT_FALSE(ExactAnswers::compute(*model, text));
}

}  // namespace
}  // namespace laya::model

// The promises of language_model.h, kept by every backend of this build.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "base/allocation_counter.h"
#include "base/test_folder.h"
#include "model/backends/cpu.h"
#include "model/backends/mlx.h"
#include "model/backends/reference.h"
#include "model/bench/random_model.h"
#include "model/gru/gru_cpu_backend.h"
#include "model/gru/gru_mlx_backend.h"
#include "model/gru/test_models.h"
#include "simd/dispatch.h"

namespace laya::model {
namespace {

struct Case {
  std::string name;
  float absolute;  ///< tolerance against the fp32 golden vectors, for numbers of size about 1…10
  float relative;
};

/// A backend over the tiny model; null where this build or machine lacks it.
std::unique_ptr<LanguageModel> make(const std::string& name, const format::ModelFile& file) {
  const GruConfig config = *read_gru_config(file);
  const auto packed = [&](simd::WeightType type) {
    auto weights = load_packed_weights(file, config, type);
    EXPECT_TRUE(weights) << weights.error().message;
    return std::move(*weights);
  };
  if (name == "reference") return std::move(*load_language_model(file, reference_backend()));
  if (name == "cpu-fp32")
    return make_cpu_model(config, packed(simd::WeightType::Fp32), simd::best_kernels());
  if (name == "cpu-fp16")
    return make_cpu_model(config, packed(simd::WeightType::Fp16), simd::best_kernels());
  if (name == "cpu-int8")
    return make_cpu_model(config, packed(simd::WeightType::Int8), simd::best_kernels());
  if (name == "cpu-int4")
    return make_cpu_model(config, packed(simd::WeightType::Int4), simd::best_kernels());
  if (name == "cpu-int8-scalar")
    return make_cpu_model(config, packed(simd::WeightType::Int8), simd::scalar_kernels());
  auto mlx = load_language_model(file, name == "mlx" ? mlx_backend() : mlx_8bit_backend());
  if (!mlx) {
    EXPECT_EQ(mlx.error().code, ErrorCode::Unsupported) << mlx.error().message;
    return nullptr;
  }
  return std::move(*mlx);
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Backends : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    model_ = make(GetParam().name, file_);
    if (model_ == nullptr) {
      GTEST_SKIP() << "no MLX in this build";
    }
    workspace_ = model_->make_workspace();
  }

  const GruConfig& config() const { return model_->config(); }

  format::ModelFile file_ = tiny_file();
  std::unique_ptr<LanguageModel> model_;
  std::unique_ptr<Workspace> workspace_;
};

INSTANTIATE_TEST_SUITE_P(
    All, Backends,
    // fp32 differs by the order of sums; fp16 rounds weights to 11 bits; int8 also rounds
    // activations to 8; int4 weights to 4, and random weights are its worst case.
    testing::Values(Case{"reference", 1e-5F, 1e-5F}, Case{"cpu-fp32", 5e-5F, 5e-5F},
                    Case{"cpu-fp16", 1e-2F, 1e-2F}, Case{"cpu-int8", 0.15F, 0.05F},
                    Case{"cpu-int8-scalar", 0.15F, 0.05F}, Case{"cpu-int4", 2.0F, 0.5F},
                    Case{"mlx", 5e-5F, 5e-5F}, Case{"mlx-8bit", 0.15F, 0.05F}),
    [](const auto& parameter) {
      std::string name = parameter.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST_P(Backends, AgreesWithTheGoldenVectors) {
  const auto got = compute_golden(*model_);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(golden_mismatch(golden(), *got, GetParam().absolute, GetParam().relative), "");
}

TEST_P(Backends, SeveralColumnsGiveWhatSingleStepsGive) {
  const std::size_t e = config().embedding_dim, v = config().vocabulary_size;
  for (const std::size_t n : {std::size_t{2}, std::size_t{5}, kMaxColumns}) {
    std::vector<State> together, alone;
    std::vector<TokenId> tokens;
    for (std::uint32_t i = 0; i < n;
         ++i) {  // histories of different lengths, some shorter than the window
      std::vector<TokenId> past(i % 5, 5 * i + 3);
      together.push_back(run(*model_, *workspace_, past));
      alone.push_back(together.back());
      tokens.push_back((i * 13 + 2) % config().vocabulary_size);
    }
    std::vector<State*> pointers;
    for (State& state : together) {
      pointers.push_back(&state);
    }
    std::vector<float> hidden(n * e), scores(n * v), normalizers(n);
    ASSERT_TRUE(model_->advance(*workspace_, pointers, tokens, hidden));
    ASSERT_TRUE(model_->logits(*workspace_, hidden, n, scores));
    ASSERT_TRUE(model_->log_normalizers(*workspace_, hidden, n, normalizers));
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<float> one_hidden(e), one_scores(v);
      ASSERT_TRUE(model_->advance(*workspace_, alone[i], tokens[i], one_hidden));
      ASSERT_TRUE(model_->logits(*workspace_, one_hidden, 1, one_scores));
      EXPECT_EQ(alone[i].position(), together[i].position());
      for (std::size_t k = 0; k < e; ++k) {
        ASSERT_NEAR(hidden[i * e + k], one_hidden[k], 1e-5F) << n << " " << i << " " << k;
        ASSERT_EQ(hidden[i * e + k], together[i].output()[k]);
      }
      for (std::size_t k = 0; k < v; ++k) {
        ASSERT_NEAR(scores[i * v + k], one_scores[k], 1e-4F) << n << " " << i << " " << k;
      }
      EXPECT_NEAR(normalizers[i], log_sum_exp(one_scores), 1e-4F);
    }
  }
}

TEST_P(Backends, ReadingASequenceGivesWhatSingleStepsGive) {
  const auto near = [](const State& a, const State& b) {
    for (std::size_t k = 0; k < a.output().size(); ++k) {
      ASSERT_NEAR(a.output()[k], b.output()[k], 1e-5F) << k;
    }
    for (std::size_t l = 0; l < a.config().layers; ++l) {
      for (std::size_t k = 0; k < a.hidden(l).size(); ++k) {
        ASSERT_NEAR(a.hidden(l)[k], b.hidden(l)[k], 1e-5F) << l << " " << k;
      }
    }
  };
  for (const std::size_t past : {std::size_t{0}, std::size_t{2}, std::size_t{9}}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{7}, kMaxColumns}) {
      SCOPED_TRACE(std::to_string(past) + " before, " + std::to_string(n) + " read");
      State sequence = run(*model_, *workspace_, std::vector<TokenId>(past, 4));
      State stepped = sequence;
      std::vector<TokenId> tokens;
      for (std::uint32_t i = 0; i < n; ++i) {
        tokens.push_back((i * 13 + 2) % config().vocabulary_size);
      }
      std::vector<State> after(n, State(config()));
      ASSERT_TRUE(model_->read(*workspace_, sequence, tokens, after));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(model_->advance(*workspace_, stepped, tokens[i]));
        EXPECT_EQ(after[i].position(), stepped.position());
        near(after[i], stepped);
      }
      near(sequence, stepped);
      // The keys and values too: what is read next sees them.
      ASSERT_TRUE(model_->advance(*workspace_, sequence, 5));
      ASSERT_TRUE(model_->advance(*workspace_, after.back(), 5));
      ASSERT_TRUE(model_->advance(*workspace_, stepped, 5));
      near(sequence, stepped);
      near(after.back(), stepped);
    }
  }
  State state(config());
  std::vector<State> two(2, state);
  EXPECT_EQ(model_->read(*workspace_, state, {}, {}).error().code, ErrorCode::BadArgument);
  EXPECT_EQ(model_->read(*workspace_, state, std::vector<TokenId>{1}, two).error().code,
            ErrorCode::BadArgument);
  EXPECT_EQ(model_->read(*workspace_, state, std::vector<TokenId>{config().vocabulary_size}, {})
                .error()
                .code,
            ErrorCode::BadArgument);
}

TEST_P(Backends, ChosenRowsGiveWhatAllRowsGive) {
  const std::size_t v = config().vocabulary_size;
  const State a = run(*model_, *workspace_, {1, 4, 9}), b = run(*model_, *workspace_, {1, 80});
  std::vector<float> hidden(a.output().begin(), a.output().end());
  hidden.insert(hidden.end(), b.output().begin(), b.output().end());
  std::vector<float> all(2 * v);
  ASSERT_TRUE(model_->logits(*workspace_, hidden, 2, all));
  const std::vector<TokenId> rows = {90, 0, 17, 16, 15, 17, 64};
  std::vector<float> some(2 * rows.size());
  ASSERT_TRUE(model_->logits_rows(*workspace_, hidden, 2, rows, some));
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // mlx-8bit multiplies chosen rows after dequantising: another rounding.
      EXPECT_NEAR(some[c * rows.size() + i], all[c * v + rows[i]], 1e-3F) << c << " " << i;
    }
  }
  EXPECT_TRUE(model_->logits_rows(*workspace_, hidden, 2, {}, {}));
}

TEST_P(Backends, AForkedStateGoesItsOwnWay) {
  State trunk = run(*model_, *workspace_, {1, 5, 6, 7, 8});
  State branch(trunk);
  ASSERT_TRUE(model_->advance(*workspace_, branch, 11));
  const State straight = run(*model_, *workspace_, {1, 5, 6, 7, 8, 12});
  ASSERT_TRUE(model_->advance(*workspace_, trunk, 12));
  EXPECT_TRUE(std::ranges::equal(trunk.output(), straight.output()));
  EXPECT_FALSE(std::ranges::equal(branch.output(), straight.output()));
}

TEST_P(Backends, BackspaceThenTypingIsAsIfNothingHadBeenTyped) {
  State state(config());
  StateHistory history(config());
  ASSERT_TRUE(history.reset(state));
  for (const TokenId token : {1U, 20U, 30U, 40U, 50U, 60U}) {
    ASSERT_TRUE(model_->advance(*workspace_, state, token));
    ASSERT_TRUE(history.push(state));
  }
  ASSERT_TRUE(history.truncate(3, state));
  ASSERT_TRUE(model_->advance(*workspace_, state, 77));
  const State straight = run(*model_, *workspace_, {1, 20, 30, 77});
  EXPECT_TRUE(std::ranges::equal(state.output(), straight.output()));
}

TEST_P(Backends, GoesOnFromASavedState) {
  const State saved = run(*model_, *workspace_, {1, 2, 3, 4, 5});
  auto state = State::deserialise(saved.serialise(), config());
  ASSERT_TRUE(state);
  ASSERT_TRUE(model_->advance(*workspace_, *state, 6));
  const State straight = run(*model_, *workspace_, {1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(std::ranges::equal(state->output(), straight.output()));
}

TEST_P(Backends, APoisonedStateGivesAnErrorAndStaysAsItWas) {
  const State good = run(*model_, *workspace_, {1, 2, 3, 4, 5});
  const float poisons[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity()};
  for (const float poison : poisons) {
    for (int place = 0; place < 3; ++place) {
      State bad(good), neighbour(good);
      const std::size_t layer = config().layers - 1;
      (place == 0   ? bad.hidden(0)
       : place == 1 ? bad.key(layer, 3)
                    : bad.value(layer, 4))[1] = poison;
      const State before(bad);
      State* const states[] = {&neighbour, &bad};
      const TokenId tokens[] = {7, 7};
      std::vector<float> hidden(2 * config().embedding_dim, 0.0F);
      const Status status = model_->advance(*workspace_, states, tokens, hidden);
      ASSERT_FALSE(status) << place;
      EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
      EXPECT_TRUE(std::ranges::all_of(hidden, [](float x) { return std::isfinite(x); }));
      EXPECT_EQ(neighbour.position(), good.position());
      EXPECT_TRUE(std::ranges::equal(std::as_const(neighbour).hidden(0), good.hidden(0)));
      EXPECT_TRUE(std::ranges::equal(neighbour.output(), good.output()));
      EXPECT_EQ(bad.position(), before.position());
      // The neighbour works on as if nothing had happened.
      ASSERT_TRUE(model_->advance(*workspace_, neighbour, 7));
      State straight(good);
      ASSERT_TRUE(model_->advance(*workspace_, straight, 7));
      EXPECT_TRUE(std::ranges::equal(neighbour.output(), straight.output()));
    }
  }
}

TEST_P(Backends, PoisonedVectorsGiveNoScores) {
  std::vector<float> hidden(config().embedding_dim, 1.0F), scores(config().vocabulary_size), one(1);
  hidden[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(model_->logits(*workspace_, hidden, 1, scores));
  EXPECT_TRUE(std::ranges::all_of(scores, [](float x) { return std::isfinite(x); }));
  EXPECT_FALSE(model_->log_normalizers(*workspace_, hidden, 1, one));
  const TokenId rows[] = {3};
  EXPECT_FALSE(model_->logits_rows(*workspace_, hidden, 1, rows, one));
}

TEST_P(Backends, RefusesCallsThatDoNotFit) {
  State state(config()), other(default_gru_config());
  std::vector<float> hidden(config().embedding_dim), scores(config().vocabulary_size);
  const auto expect_bad = [](const Status& status, const char* what) {
    ASSERT_FALSE(status) << what;
    EXPECT_EQ(status.error().code, ErrorCode::BadArgument) << what;
  };
  expect_bad(model_->advance(*workspace_, state, config().vocabulary_size), "token outside");
  expect_bad(model_->advance(*workspace_, other, 1), "state of another shape");
  expect_bad(model_->advance(*workspace_, state, 1, std::span(hidden).first(3)),
             "hidden too short");
  expect_bad(model_->advance(*workspace_, {}, {}, {}), "no columns");
  State* const twice[] = {&state, &state};
  const TokenId tokens[] = {1, 2};
  expect_bad(model_->advance(*workspace_, twice, tokens, {}), "one state twice");
  expect_bad(model_->logits(*workspace_, hidden, 1, std::span(scores).first(5)), "out too short");
  expect_bad(model_->logits(*workspace_, hidden, 17, scores), "17 columns");
  const TokenId outside[] = {config().vocabulary_size};
  expect_bad(model_->logits_rows(*workspace_, hidden, 1, outside, std::span(scores).first(1)),
             "row outside");
  EXPECT_EQ(state.position(), 0U);
}

TEST_P(Backends, IsSharedByThreads) {
  const State wanted = run(*model_, *workspace_, {1, 2, 3, 4});
  std::vector<std::thread> threads;
  std::array<bool, 3> equal{};
  for (bool& result : equal) {
    threads.emplace_back([&] {
      const auto workspace = model_->make_workspace();
      const State state = run(*model_, *workspace, {1, 2, 3, 4});
      result = std::ranges::equal(state.output(), wanted.output());
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(std::ranges::all_of(equal, std::identity{}));
}

TEST_P(Backends, TwoThreadsGiveTheSameNumbers) {
  const auto two = model_->make_workspace(Threads::Two);
  const State a = run(*model_, *workspace_, {1, 50, 60, 70}),
              b = run(*model_, *two, {1, 50, 60, 70});
  EXPECT_TRUE(std::ranges::equal(a.output(), b.output()));
  std::vector<float> scores_a(config().vocabulary_size), scores_b(config().vocabulary_size);
  ASSERT_TRUE(model_->logits(*workspace_, a.output(), 1, scores_a));
  ASSERT_TRUE(model_->logits(*two, b.output(), 1, scores_b));
  EXPECT_EQ(scores_a, scores_b);
}

TEST_P(Backends, AllocatesNothingAfterWarmUp) {
  if (GetParam().name.starts_with("mlx")) {
    GTEST_SKIP() << "MLX allocates";
  }
  const std::size_t n = kMaxColumns;
  std::vector<State> states(n, State(config()));
  std::vector<State*> pointers;
  for (State& state : states) {
    pointers.push_back(&state);
  }
  const std::vector<TokenId> tokens(n, 5), rows = {1, 2, 3};
  std::vector<float> hidden(n * config().embedding_dim), scores(n * config().vocabulary_size),
      one(n);
  StateHistory history(config());
  std::size_t counted = 0;
  for (int round = 0; round < 3; ++round) {
    const std::size_t before = base::allocations_so_far();
    ASSERT_TRUE(model_->advance(*workspace_, pointers, tokens, hidden));
    ASSERT_TRUE(model_->advance(*workspace_, states[3], 9));
    ASSERT_TRUE(model_->logits(*workspace_, hidden, n, scores));
    ASSERT_TRUE(model_->logits_rows(*workspace_, std::span(hidden).first(config().embedding_dim), 1,
                                    rows, std::span(scores).first(3)));
    ASSERT_TRUE(model_->log_normalizers(*workspace_, hidden, n, one));
    ASSERT_TRUE(history.push(states[3]));
    ASSERT_TRUE(history.truncate(0, states[4]));
    ASSERT_TRUE(states[5].copy_from(states[3]));
    counted = base::allocations_so_far() - before;
  }
  EXPECT_EQ(counted, 0U);
}

// Whatever kernels a CPU chooses, the model says the same: quantised products agree to the last
// bit, the rest to a few ulp, which may move an activation by one code.
TEST(CpuBackend, EveryKernelTableGivesTheSameModel) {
  const format::ModelFile file = tiny_file();
  const GruConfig config = tiny_gru_config();
  const auto golden_of = [&](simd::WeightType type, const simd::Kernels& kernels) {
    auto weights = load_packed_weights(file, config, type);
    EXPECT_TRUE(weights);
    return *compute_golden(*make_cpu_model(config, std::move(*weights), kernels));
  };
  for (const simd::WeightType type : {simd::WeightType::Int4, simd::WeightType::Int8,
                                      simd::WeightType::Fp16, simd::WeightType::Fp32}) {
    const GoldenTensors plain = golden_of(type, simd::scalar_kernels());
    for (const simd::Kernels* kernels : simd::available_kernels()) {
      SCOPED_TRACE(kernels->name);
      EXPECT_EQ(golden_mismatch(plain, golden_of(type, *kernels), 0.02F, 0.02F), "");
    }
  }
}

// Damaged weights that got past loading (bad memory) must not get past advance either: NaN in one
// number of each tensor, for quantised matrices in a scale.
class PoisonedWeights : public testing::TestWithParam<simd::WeightType> {};
INSTANTIATE_TEST_SUITE_P(Types, PoisonedWeights,
                         testing::Values(simd::WeightType::Fp32, simd::WeightType::Int8,
                                         simd::WeightType::Int4));

TEST_P(PoisonedWeights, GiveAnErrorAndTheStateStays) {
  const GruConfig config = tiny_gru_config();
  const format::ModelFile file = tiny_file();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t tensors = tensor_specs(config).size();
  for (std::size_t poisoned = 0; poisoned < tensors; ++poisoned) {
    const TensorSpec spec = tensor_specs(config)[poisoned];
    if (spec.name == "out_bias") {
      continue;  // not read by advance; logits is tested above
    }
    SCOPED_TRACE(spec.name);
    auto owned = load_packed_weights(file, config, GetParam());
    ASSERT_TRUE(owned);
    const GruWeights<simd::PackedMatrix> good = owned->weights;
    std::vector<std::vector<float>> vectors;
    std::size_t index = 0, matrix_index = 0;
    auto walked = gather_weights<simd::PackedMatrix>(
        config,
        [&](const std::string&, std::uint32_t, std::uint32_t) -> Result<simd::PackedMatrix> {
          // Tensors are walked in the order in which they were loaded, so storage has the matrices
          // in this order too.
          std::span<std::byte> bytes = owned->storage[matrix_index++].bytes();
          if (index++ == poisoned) {
            // fp16 NaN is 0x7E00; as part of an fp32 number 0x7E007E00 is 4e37, so fp32 gets a NaN
            // of its own.
            if (GetParam() == simd::WeightType::Fp32) {
              std::fill_n(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float),
                          nan);
            } else {
              std::fill_n(reinterpret_cast<std::uint16_t*>(bytes.data()), simd::kBlockRows,
                          std::uint16_t{0x7E00});
            }
          }
          return simd::PackedMatrix{};
        },
        [&](const std::string& name,
            std::span<const std::uint32_t>) -> Result<std::span<const float>> {
          auto numbers = file.tensor(name)->as<float>();
          std::vector<float>& copy = vectors.emplace_back(numbers.begin(), numbers.end());
          if (index++ == poisoned) {
            copy[1] = nan;
          }
          return std::span<const float>(copy);
        });
    ASSERT_TRUE(walked);
    GruWeights<simd::PackedMatrix>& weights = owned->weights;
    weights.final_norm = walked->final_norm;
    for (std::size_t l = 0; l < config.layers; ++l) {
      weights.layers[l].gru_norm = walked->layers[l].gru_norm;
      weights.layers[l].b_ih = walked->layers[l].b_ih;
      weights.layers[l].b_hh = walked->layers[l].b_hh;
      weights.layers[l].attn_norm = walked->layers[l].attn_norm;
      weights.layers[l].rel_bias = walked->layers[l].rel_bias;
    }
    const auto model = make_cpu_model(config, std::move(*owned), simd::best_kernels());
    const auto workspace = model->make_workspace();
    State state(config);
    if (spec.name.ends_with("rel_bias")) {
      ASSERT_TRUE(model->advance(
          *workspace, state, 1));  // [0][1] is the bias of one step back: the second token reads it
    }
    // The first 16 rows of every matrix are poisoned, so token 1 reads a poisoned embedding row.
    const auto before = state.serialise();
    const Status status = model->advance(*workspace, state, 1);
    EXPECT_TRUE(state.serialise() == before);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::Corrupt);
    EXPECT_TRUE(std::ranges::all_of(state.numbers(), [](float x) { return std::isfinite(x); }));
  }
}

TEST_P(PoisonedWeights, AreRefusedAtLoadingByName) {
  // In tiny.laya all tensors are f32: a NaN in any of them is found when it is loaded.
  const base::TestFolder folder;
  const GruConfig config = tiny_gru_config();
  OwnedFloatWeights weights = random_weights(config, 1);
  weights.storage[5][7] = std::numeric_limits<float>::infinity();
  const std::string path = folder.file("poisoned.laya");
  ASSERT_TRUE(write_model(path, config, weights.weights, "test"));
  const auto file = format::ModelFile::open(path);
  ASSERT_TRUE(file);
  for (const Backend backend : {reference_backend(), cpu_backend()}) {
    const auto model = load_language_model(*file, backend);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::Corrupt);
    EXPECT_NE(model.error().message.find("layers.0.gru.b_ih"), std::string::npos)
        << model.error().message;
  }
}

}  // namespace
}  // namespace laya::model

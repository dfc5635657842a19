#include "model/gru/model_loading.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/element.h"
#include "format/model_writer.h"
#include "model/backends/cpu.h"
#include "model/backends/mlx.h"
#include "model/backends/reference.h"
#include "model/bench/random_model.h"
#include "model/gru/test_models.h"
#include "simd/packing.h"

namespace laya::model {
namespace {

/// Writes the tiny model with one change and says what loading it with `backend` answers.
class Variant {
 public:
  std::string metadata =
      "{\"architecture\":\"gru-local\",\"config\":" + config_json(tiny_gru_config()) + "}";
  std::string left_out;  ///< a tensor not written
  std::string reshaped;  ///< a tensor written with one row more
  std::string as_int32;  ///< a tensor written with another element type

  Result<std::unique_ptr<LanguageModel>> load(const Backend& backend = cpu_backend()) {
    const std::string path = folder_.file("variant.laya");
    const GruConfig config = tiny_gru_config();
    const OwnedFloatWeights weights = random_weights(config, 3);
    auto writer = format::ModelWriter::create(path);
    EXPECT_TRUE(writer);
    for (TensorSpec spec : tensor_specs(config)) {
      if (spec.name == left_out) {
        continue;
      }
      const auto numbers = tensor_numbers(config, weights.weights, spec.name);
      std::vector<float> data(numbers.begin(), numbers.end());
      format::Layout layout;
      layout.element = spec.name == as_int32 ? format::Element::I32 : format::Element::F32;
      layout.rank = static_cast<std::uint8_t>(spec.shape.size());
      if (spec.name == reshaped) {
        data.resize(data.size() + data.size() / spec.shape[0]);
        ++spec.shape[0];
      }
      std::copy(spec.shape.begin(), spec.shape.end(), layout.shape.begin());
      EXPECT_TRUE(writer->add_tensor(spec.name, layout, std::as_bytes(std::span(data))));
    }
    EXPECT_TRUE(writer->set_metadata(metadata));
    EXPECT_TRUE(writer->finish());
    auto file = format::ModelFile::open(path);
    EXPECT_TRUE(file);
    file_ = std::make_unique<format::ModelFile>(std::move(*file));
    return load_language_model(*file_, backend);
  }

 private:
  base::TestFolder folder_;
  std::unique_ptr<format::ModelFile> file_;
};

TEST(ModelLoading, NamesTheTensorThatDoesNotFit) {
  for (const Backend backend : {reference_backend(), cpu_backend()}) {
    for (const TensorSpec& spec : tensor_specs(tiny_gru_config())) {
      SCOPED_TRACE(spec.name);
      Variant missing, reshaped, retyped;
      missing.left_out = reshaped.reshaped = retyped.as_int32 = spec.name;
      for (Variant* variant : {&missing, &reshaped, &retyped}) {
        const auto model = variant->load(backend);
        ASSERT_FALSE(model);
        EXPECT_EQ(model.error().code, ErrorCode::Corrupt);
        EXPECT_NE(model.error().message.find(spec.name), std::string::npos)
            << model.error().message;
      }
    }
  }
}

TEST(ModelLoading, RefusesOtherArchitecturesAndConfigurations) {
  struct Case {
    const char* name;
    std::string metadata;
    ErrorCode code;
    const char* word;
  };
  const std::string config = config_json(tiny_gru_config());
  std::string eight_layers = config;
  eight_layers.replace(eight_layers.find("\"layers\":2"), 10, "\"layers\":0");
  std::string no_window = config;
  no_window.replace(no_window.find("\"window\""), 8, "\"breadth\"");
  const Case cases[] = {
      {"nothing", "{}", ErrorCode::Corrupt, "architecture"},
      {"another", "{\"architecture\":\"llama\",\"config\":{}}", ErrorCode::Unsupported, "llama"},
      {"no config", "{\"architecture\":\"gru-local\"}", ErrorCode::Corrupt, "config"},
      {"no layers", "{\"architecture\":\"gru-local\",\"config\":" + eight_layers + "}",
       ErrorCode::Corrupt, "layers"},
      {"no window", "{\"architecture\":\"gru-local\",\"config\":" + no_window + "}",
       ErrorCode::Corrupt, "window"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Variant variant;
    variant.metadata = c.metadata;
    const auto model = variant.load();
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, c.code);
    EXPECT_NE(model.error().message.find(c.word), std::string::npos) << model.error().message;
  }
}

TEST(ModelLoading, ConfigurationSurvivesTheFile) {
  const auto config = read_gru_config(tiny_file());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(*config, tiny_gru_config());
  EXPECT_EQ(config_json(default_gru_config()),
            "{\"vocabulary_size\":16384,\"embedding_dim\":256,\"hidden_dim\":512,\"layers\":2,"
            "\"heads\":4,"
            "\"head_dim\":32,\"window\":5,\"norm_eps\":1e-05}");
}

TEST(ModelLoading, RunsOnTheBackendThatIsNamedAndOnNoOther) {
  EXPECT_EQ(cpu_backend().name, "cpu");
  EXPECT_EQ(reference_backend().name, "reference");
  Variant variant;
  const auto none = variant.load(Backend{});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::BadArgument);
  EXPECT_NE(none.error().message.find("backend"), std::string::npos);
  const auto reference = variant.load(reference_backend());
  ASSERT_TRUE(reference) << reference.error().message;
  EXPECT_EQ((*reference)->backend_name(), "reference");
}

// format (sizes in files) and simd (what kernels read) do not know each other; this is where they
// must agree.
TEST(ModelLoading, FileAndKernelsAgreeOnPackedSizes) {
  for (const std::uint32_t rows : {1U, 15U, 16U, 17U, 384U, 16384U}) {
    for (const std::uint32_t columns : {1U, 31U, 32U, 33U, 64U, 100U, 128U, 129U, 512U}) {
      for (const std::uint16_t group : {std::uint16_t{32}, std::uint16_t{64}, std::uint16_t{128}}) {
        for (const bool minima : {false, true}) {
          for (const auto type : {simd::WeightType::Int8, simd::WeightType::Int4}) {
            const simd::PackedShape shape{rows, columns, type, group,
                                          minima ? simd::Minima::PerGroup : simd::Minima::None};
            format::Layout layout;
            layout.element = type == simd::WeightType::Int8 ? format::Element::PackedInt8
                                                            : format::Element::PackedInt4;
            layout.rank = 2;
            layout.group = group;
            layout.has_minima = minima;
            layout.shape = {rows, columns, 0, 0};
            const auto bytes = format::tensor_bytes(layout);
            ASSERT_TRUE(bytes);
            ASSERT_EQ(*bytes, simd::packed_size_bytes(shape))
                << rows << "x" << columns << " group " << group;
          }
        }
      }
      for (const auto type : {simd::WeightType::Fp16, simd::WeightType::Fp32}) {
        format::Layout layout;
        layout.element = type == simd::WeightType::Fp16 ? format::Element::PackedF16
                                                        : format::Element::PackedF32;
        layout.rank = 2;
        layout.shape = {rows, columns, 0, 0};
        const auto bytes = format::tensor_bytes(layout);
        ASSERT_TRUE(bytes);
        ASSERT_EQ(*bytes, simd::packed_size_bytes({rows, columns, type, 0, simd::Minima::None}))
            << rows << "x" << columns;
      }
    }
  }
}

}  // namespace
}  // namespace laya::model

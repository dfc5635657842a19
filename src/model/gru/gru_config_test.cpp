#include "model/gru/gru_config.h"

#include <gtest/gtest.h>

#include "model/bench/random_model.h"
#include "model/gru/gru_weights.h"

namespace laya::model {
namespace {

TEST(GruConfig, DefaultHasEightMillionParameters) {
  EXPECT_TRUE(default_gru_config().validate());
  EXPECT_EQ(default_gru_config().parameter_count(), 8151592U);
}

TEST(GruConfig, CountsExactlyTheTensorsItLists) {
  for (const GruConfig& config : {default_gru_config(), tiny_gru_config()}) {
    std::uint64_t numbers = 0;
    for (const TensorSpec& spec : tensor_specs(config)) {
      std::uint64_t count = 1;
      for (const std::uint32_t dimension : spec.shape) {
        count *= dimension;
      }
      numbers += count;
    }
    EXPECT_EQ(numbers, config.parameter_count());
  }
}

TEST(GruConfig, RefusesWhatNoModelHas) {
  struct Case {
    const char* field;
    std::uint32_t GruConfig::*value;
    std::uint32_t bad;
  };
  const Case cases[] = {
      {"vocabulary_size", &GruConfig::vocabulary_size, 1},
      {"vocabulary_size", &GruConfig::vocabulary_size, 1U << 31},
      {"embedding_dim", &GruConfig::embedding_dim, 0},
      {"hidden_dim", &GruConfig::hidden_dim, 100000},
      {"layers", &GruConfig::layers, 0},
      {"heads", &GruConfig::heads, 65},
      {"head_dim", &GruConfig::head_dim, 0},
      {"window", &GruConfig::window, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.field);
    GruConfig config = default_gru_config();
    config.*c.value = c.bad;
    const Status status = config.validate();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::BadArgument);
    EXPECT_NE(status.error().message.find(c.field), std::string::npos);
  }
  GruConfig config = default_gru_config();
  config.norm_eps = 0.0F;
  EXPECT_FALSE(config.validate());
}

}  // namespace
}  // namespace laya::model

#include "model/gru/gru_config.h"

#include <array>
#include <cmath>
#include <string>

namespace laya::model {
namespace {

struct Limit {
  const char* field;
  std::uint32_t GruConfig::*value;
  std::uint32_t low, high;
};

// Generous against real models, small enough that no product of two of them times a float nears
// 2^63, and none 2^31 rows.
constexpr std::array kLimits = {
    Limit{"vocabulary_size", &GruConfig::vocabulary_size, 2, 1U << 20},
    Limit{"embedding_dim", &GruConfig::embedding_dim, 1, 8192},
    Limit{"hidden_dim", &GruConfig::hidden_dim, 1, 8192},
    Limit{"layers", &GruConfig::layers, 1, 64},
    Limit{"heads", &GruConfig::heads, 1, 64},
    Limit{"head_dim", &GruConfig::head_dim, 1, 256},
    Limit{"window", &GruConfig::window, 2, 16},
};

}  // namespace

Status GruConfig::validate() const {
  for (const Limit& limit : kLimits) {
    const std::uint32_t value = this->*limit.value;
    if (value < limit.low || value > limit.high) {
      return Error{ErrorCode::BadArgument, std::string("model configuration: ") + limit.field +
                                               " is " + std::to_string(value) + ", allowed are " +
                                               std::to_string(limit.low) + " to " +
                                               std::to_string(limit.high)};
    }
  }
  if (!(norm_eps > 0.0F) || !(norm_eps <= 0.1F)) {
    return Error{ErrorCode::BadArgument,
                 "model configuration: norm_eps must be above 0 and at most 0.1"};
  }
  return {};
}

std::uint64_t GruConfig::parameter_count() const {
  const std::uint64_t vocabulary = vocabulary_size, e = embedding_dim, d = hidden_dim;
  const std::uint64_t attention = attention_dim();
  const std::uint64_t gru = 2 * (3 * d * d + 3 * d);
  const std::uint64_t layer =
      2 * d + gru + 3 * attention * d + std::uint64_t{heads} * window + d * attention;
  return vocabulary * e + d * e + layers * layer + d + e * d + vocabulary;
}

GruConfig default_gru_config() {
  GruConfig config;
  config.vocabulary_size = 16384;
  config.embedding_dim = 256;
  config.hidden_dim = 512;
  config.layers = 2;
  config.heads = 4;
  config.head_dim = 32;
  config.window = 5;
  return config;
}

}  // namespace laya::model

#include "model/decoder/decoder_rope.h"

#include <cmath>
#include <numbers>

namespace laya::model {
namespace {

/// Llama 3.1: long waves are stretched by `factor`, short ones stay, between the bounds it goes
/// over smoothly (transformers, _compute_llama3_parameters).
double scaled(double frequency, const RopeScaling& scaling) {
  switch (scaling.kind) {
    case RopeScaling::Kind::Linear:
      return frequency / scaling.factor;
    case RopeScaling::Kind::Llama3: {
      const double turns = scaling.original_context * frequency / (2 * std::numbers::pi);
      if (turns < scaling.low_freq_factor) {
        return frequency / scaling.factor;
      }
      if (turns > scaling.high_freq_factor) {
        return frequency;
      }
      const double smooth =
          (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
      return (1 - smooth) * frequency / scaling.factor + smooth * frequency;
    }
    default:
      return frequency;
  }
}

}  // namespace

RopeFrequencies::RopeFrequencies(const DecoderConfig& config) {
  for (std::uint32_t i = 0; i < config.head_dim / 2; ++i) {
    const double exponent = -2.0 * i / config.head_dim;
    global_.push_back(scaled(std::pow(config.rope_base, exponent), config.rope_scaling));
    local_.push_back(std::pow(config.rope_base_local, exponent));
  }
}

void RopeFrequencies::angles(std::size_t position, bool sliding, std::span<float> cosines,
                             std::span<float> sines) const {
  const std::vector<double>& frequencies = sliding ? local_ : global_;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double angle = static_cast<double>(position) * frequencies[i];
    cosines[i] = static_cast<float>(std::cos(angle));
    sines[i] = static_cast<float>(std::sin(angle));
  }
}

}  // namespace laya::model

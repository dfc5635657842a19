#include "predict/mixing.h"

#include <algorithm>
#include <cmath>

namespace laya::predict {

std::size_t Mixing::context_bucket(std::size_t units) {
  return units < 2 ? units : (units < 4 ? 2 : 3);
}

std::size_t Mixing::prefix_bucket(std::size_t letters) {
  return letters < 2 ? letters : (letters < 4 ? 2 : 3);
}

const Mixing& shipped_mixing() {
  // Placeholder until learnt on dev: both sources count alike.
  static const Mixing kMixing = [] {
    Mixing mixing;
    for (auto& row : mixing.word_network) {
      row.fill(0.5F);
    }
    mixing.han_network.fill(0.5F);
    return mixing;
  }();
  return kMixing;
}

float mix(MixingKind kind, float network_share, float log_p_network, float log_p_ngram) {
  if (network_share <= 0) {
    return log_p_ngram;
  }
  if (network_share >= 1) {
    return log_p_network;
  }
  if (kind == MixingKind::LogLinear) {
    // A word that one source cannot see must not vanish: e^-18 is below anything it gives to a word
    // it knows.
    constexpr float kFloor = -18.0F;
    return network_share * std::max(log_p_network, kFloor) +
           (1 - network_share) * std::max(log_p_ngram, kFloor);
  }
  const float a = std::log(network_share) + log_p_network;
  const float b = std::log1p(-network_share) + log_p_ngram;
  const float high = std::max(a, b);
  const float low = std::min(a, b);
  return high == -INFINITY ? high : high + std::log1p(std::exp(low - high));
}

}  // namespace laya::predict

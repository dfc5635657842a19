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
  // English: `laya eval mixing` over dev en_ewt without its first 600 lines and 1,400 lines of dev
  // en_sms_nus (86,935 keys), with the network at 28 M tokens: mean of top-1 and top-3 hits 48.69 %
  // at even shares, 48.84 % at 0.3; no bucket gained more than chance by a share of its own.
  // Chinese: next character on dev zh_sms_nus, 27,227 characters, top-1 / top-3: table alone 25.99
  // / 40.09, linear 0.3 26.74 / 40.86, log-linear 0.2 26.76 / 40.88, log-linear 0.4 26.86 / 41.10.
  static const Mixing kMixing = [] {
    Mixing mixing;
    mixing.word_kind = MixingKind::Linear;
    for (auto& row : mixing.word_network) {
      row.fill(0.3F);
    }
    mixing.han_kind = MixingKind::LogLinear;
    mixing.han_network.fill(0.4F);
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

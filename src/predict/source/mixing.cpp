#include "predict/source/mixing.h"

#include <algorithm>
#include <cmath>

namespace laya::predict {

std::size_t Mixing::context_bucket(std::size_t units) {
  return units < 2 ? units : (units < 4 ? 2 : 3);
}

std::size_t Mixing::prefix_bucket(std::size_t letters) {
  return letters < 2 ? letters : (letters < 4 ? 2 : 3);
}

Shares Mixing::shares_at(std::size_t units, std::size_t letters) const {
  const std::size_t row = context_bucket(units);
  const std::size_t column = prefix_bucket(letters);
  return {word_network[row][column], word_deep[row][column], han_network[row], han_deep[row]};
}

const Mixing& shipped_mixing() {
  // Chosen on dev with the shipped files. `laya eval mixing --words EN_EWT EN_SMS_NUS --han
  // ZH_SMS_NUS
  // --skip 600` (240,910 keys, 21,833 characters) proposes log-linear 0.45 for words and linear 0.5
  // for Han. Words, keystrokes saved with 3 slots on 600 lines of ewt / sms / commonvoice:
  // log-linear 0.45 40.37 / 27.02 / 38.39, linear 0.3 40.38 / 27.37 / 38.38, 0.4 40.55 / 27.41
  // / 38.39, 0.5 40.57 / 27.42 / 38.38: flat, so the even share. Han, top-1 / top-3 on 400 lines of
  // smile_client: log-linear 0.4 47.7 / 63.5, linear 0.5 48.6 / 64.3.
  // Decoder: `laya eval mixing --deep gemma3-270m` on every 7th to 97th line of ewt, sms and
  // commonvoice behind the first 600, Han on zh_sms_nus behind the first 2,000 lines and
  // smile_client (9,141 keys, 4,210 characters), proposes linear 0.65 for words, 0.0 to 0.35 before
  // a line's first word, and linear 0.25 for Han. Between 0.5 and 0.85 words differ by 0.2 points
  // with either decoder; log-linear is as good. With the network that has seen 124 M tokens an even
  // share is the better end of it (0.65 ▶ 0.5, SmolLM2, 3 slots: task chat 51.23 ▶ 51.40, sms 36.56
  // ▶ 36.75, ewt 49.02 ▶ 49.05).
  static const Mixing kMixing = [] {
    Mixing mixing;
    mixing.word_kind = MixingKind::Linear;
    for (auto& row : mixing.word_network) {
      row.fill(0.5F);
    }
    mixing.han_kind = MixingKind::Linear;
    mixing.han_network.fill(0.5F);
    for (auto& row : mixing.word_deep) {
      row.fill(0.5F);
    }
    mixing.word_deep[0].fill(0.3F);
    mixing.han_deep.fill(0.25F);
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

// Probabilities from scores, over whole vocabularies.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace laya::predict {

/// e^x for x ≤ 0 to 2e-7, written so that the compiler makes vectors of it (Cody & Waite's
/// reduction, degree 6 Taylor).
inline float exp_below_zero(float x) {
  x = std::max(x, -87.0F);
  const float scaled = x * 1.44269504F;
  const float rounded = (scaled + 12582912.0F) - 12582912.0F;  // 1.5·2^23: to the nearest integer
  const float r = (x - rounded * 0.693359375F) + rounded * 2.12194440e-4F;
  const float p =
      1 + r * (1 + r * (0.5F + r * (0.16666667F +
                                    r * (0.041666668F + r * (0.008333334F + r * 0.0013888889F)))));
  const auto exponent = static_cast<std::int32_t>(rounded) + 127;
  return p * std::bit_cast<float>(exponent << 23);
}

/// Scores to probabilities, in place: softmax(scores · sharpness). Not empty. The sum runs in eight
/// lanes, so it is the same on every machine.
inline void softmax_in_place(std::span<float> scores, float sharpness = 1) {
  constexpr std::size_t kLanes = 8;
  float highest = scores[0];
  for (const float score : scores) {
    highest = std::max(highest, score);
  }
  float lanes[kLanes] = {};
  std::size_t i = 0;
  for (; scores.size() - i >= kLanes; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float value = exp_below_zero((scores[i + lane] - highest) * sharpness);
      scores[i + lane] = value;
      lanes[lane] += value;
    }
  }
  float sum = 0;
  for (; i < scores.size(); ++i) {
    scores[i] = exp_below_zero((scores[i] - highest) * sharpness);
    sum += scores[i];
  }
  for (const float lane : lanes) {
    sum += lane;
  }
  const float scale = 1 / sum;
  for (float& score : scores) {
    score *= scale;
  }
}

}  // namespace laya::predict

// What is asked of a decision, and how long it may take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "predict/source/field_names.h"

namespace laya::predict {

/// Tokens of context that sources look at: only the last so many matter.
inline constexpr std::size_t kContextTokens = 128;

enum class Want : std::uint8_t { No, Yes };

/// How long decide() may wait for the decoder, in microseconds; or one of these.
inline constexpr std::int32_t kRestOfFrame = -1;  ///< what is left of kFrameUs since the edit
inline constexpr std::int32_t kUntilDone = -2;    ///< evaluation, tests, one-shot commands
/// One frame at 135 Hz: what people have called extreme for this job.
inline constexpr std::int32_t kFrameUs = 7400;

/// How bold a list is. The defaults were chosen on dev (models/ranker/README.md).
struct ListTaste {
  /// > 0. Divides log-probabilities before `diversity` is weighed against them: a high temperature
  /// lets likeness count more. Alone it changes no order.
  float temperature = 1;
  /// ≥ 0. What an entry loses, in ln p, if it goes on exactly like one that stands above it; in
  /// proportion if only part of what it adds is the same. 0: by score alone.
  float diversity = 0;
};

struct DecideOptions {
  std::size_t candidates = 5;  ///< 0…Reply::kMaxCandidates
  Want ghost = Want::Yes;
  Want deep = Want::Yes;  ///< No: the instant tier alone
  std::int32_t deep_wait_us = kRestOfFrame;
  ListTaste taste = {};
  Want rank_features = Want::No;  ///< keep the ranker's features for rank_view() (training)
};

}  // namespace laya::predict

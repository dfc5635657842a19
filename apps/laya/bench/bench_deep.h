// Times the deep tier: the decoder against the time to read its weights, and a key from the edit to
// the decoder's list.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/deep_ghost_bench.h"
#include "laya/bench/bench_keys.h"
#include "model/bench/decoder_bench.h"
#include "predict/engine/engine.h"

namespace laya::apps {

/// Typing a text with both tiers, each key waiting for the decoder's list. Microseconds.
struct DeepKeyTimes {
  std::uint64_t keys = 0;
  std::uint64_t keys_with_pass = 0;
  std::uint64_t passes = 0;
  std::uint64_t in_frame =
      0;                ///< keys whose decoder's list came within kFrameUs, not waiting longer
  Quantiles all;        ///< from the edit to the list, over all keys
  Quantiles with_pass;  ///< over the keys that needed a pass over the weights
  Quantiles first_key;  ///< the first key of a new session, not warmed up
  /// From being told another text to its list: one that nobody has read, and one that was left.
  Quantiles new_text;
  Quantiles known_text;
  double share_with_pass() const {
    return keys > 0 ? static_cast<double>(keys_with_pass) / static_cast<double>(keys) : 0;
  }
};

struct DeepReport {
  std::string model;
  std::string kernels;
  model::DecoderTiming one;  ///< thread
  model::DecoderTiming two;
  DeepKeyTimes keys;
  eval::GhostBenchResult ghost;
  double resident_mb = 0;  ///< with the decoder, after typing
};

struct DeepBenchOptions {
  std::size_t stream_tokens = 1000;  ///< of next_token()
  std::size_t ghost_contexts = 150;
};

/// `engine` has a decoder and two threads. Internal when a reply breaks its promises or the same
/// keys give another answer the second time.
Result<DeepReport> time_deep(const predict::Engine& engine, std::string_view text,
                             const DeepBenchOptions& options);

nlohmann::ordered_json to_json(const DeepReport& report);
void print(const DeepReport& report);

}  // namespace laya::apps

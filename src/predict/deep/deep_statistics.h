// What a decoder did for a session, counted.
#pragma once

#include <cstdint>

namespace laya::predict {

struct DeepStatistics {
  std::uint64_t keys = 0;            ///< prepare() calls
  std::uint64_t keys_with_pass = 0;  ///< of them, those that ran a pass
  std::uint64_t passes = 0;          ///< passes over the weights
  std::uint64_t columns = 0;         ///< tokens in them
  std::uint64_t heads = 0;           ///< rows of logits computed
};

}  // namespace laya::predict

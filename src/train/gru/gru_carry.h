// The state that training carries from one chunk of a lane's text to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "model/gru/gru_config.h"

namespace laya::train {

/// What the model carries from one chunk to the next, per layer, detached from the graph: plain
/// numbers, so that a checkpoint holds them as they are. Zero for a start.
struct GruCarry {
  struct Layer {
    std::vector<float> hidden;   ///< h [B, d]
    std::vector<float> past_kv;  ///< [W-1, B, 2·H·k], oldest first
    std::vector<std::int32_t>
        history;  ///< [B] tokens of the running sequence that may be looked back on
  };
  std::vector<Layer> layers;
  std::uint32_t lanes = 0;

  static GruCarry zero(const model::GruConfig& config, std::uint32_t lanes);
};

}  // namespace laya::train

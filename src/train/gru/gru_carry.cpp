#include "train/gru/gru_carry.h"

namespace laya::train {

GruCarry GruCarry::zero(const model::GruConfig& config, std::uint32_t lanes) {
  GruCarry carry;
  carry.lanes = lanes;
  carry.layers.resize(config.layers);
  for (Layer& layer : carry.layers) {
    layer.hidden.assign(std::size_t{lanes} * config.hidden_dim, 0.0F);
    layer.past_kv.assign(config.past_tokens() * lanes * 2 * config.attention_dim(), 0.0F);
    layer.history.assign(lanes, 0);
  }
  return carry;
}

}  // namespace laya::train

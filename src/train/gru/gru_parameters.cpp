#include "train/gru/gru_parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "train/text/random.h"

namespace laya::train {
namespace {

// Box–Muller; both values of a pair are used, in order, so that a tensor depends on the seed alone.
void fill_normal(std::vector<float>& values, double deviation, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius = deviation * std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    const double angle = 2.0 * std::numbers::pi * random.uniform();
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace

GruParameters::GruParameters(const model::GruConfig& config) : config_(config) {
  const std::uint32_t d = config.hidden_dim;
  const std::uint32_t e = config.embedding_dim;
  const auto hk = static_cast<std::uint32_t>(config.attention_dim());
  index_.embedding = add("embedding.weight", {config.vocabulary_size, e}, WeightDecay::Skip);
  index_.in_proj = add("in_proj.weight", {d, e}, WeightDecay::Apply);
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    const std::string at = "layers." + std::to_string(l) + ".";
    GruLayerIndex layer{};
    layer.gru_norm = add(at + "gru_norm.weight", {d}, WeightDecay::Skip);
    layer.w_ih = add(at + "gru.w_ih", {3 * d, d}, WeightDecay::Apply);
    layer.w_hh = add(at + "gru.w_hh", {3 * d, d}, WeightDecay::Apply);
    layer.b_ih = add(at + "gru.b_ih", {3 * d}, WeightDecay::Skip);
    layer.b_hh = add(at + "gru.b_hh", {3 * d}, WeightDecay::Skip);
    layer.attn_norm = add(at + "attn_norm.weight", {d}, WeightDecay::Skip);
    layer.w_qkv = add(at + "attn.w_qkv", {3 * hk, d}, WeightDecay::Apply);
    layer.rel_bias = add(at + "attn.rel_bias", {config.heads, config.window}, WeightDecay::Skip);
    layer.w_o = add(at + "attn.w_o", {d, hk}, WeightDecay::Apply);
    index_.layers.push_back(layer);
  }
  index_.final_norm = add("final_norm.weight", {d}, WeightDecay::Skip);
  index_.out_proj = add("out_proj.weight", {e, d}, WeightDecay::Apply);
  index_.out_bias = add("out_bias", {config.vocabulary_size}, WeightDecay::Skip);
}

std::size_t GruParameters::add(std::string name, std::vector<std::uint32_t> shape,
                               WeightDecay decay) {
  std::size_t elements = 1;
  for (std::uint32_t n : shape) elements *= n;
  Parameter parameter{std::move(name), std::move(shape), decay, {}, {}, {}};
  parameter.value.assign(elements, 0.0F);
  parameter.first_moment.assign(elements, 0.0F);
  parameter.second_moment.assign(elements, 0.0F);
  tensors_.push_back(std::move(parameter));
  return tensors_.size() - 1;
}

std::uint64_t GruParameters::count() const {
  std::uint64_t count = 0;
  for (const Parameter& tensor : tensors_) count += tensor.value.size();
  return count;
}

void GruParameters::initialise(std::uint64_t seed, std::span<const double> unigram) {
  const double d = config_.hidden_dim;
  const double e = config_.embedding_dim;
  const auto normal = [&](std::size_t tensor, double deviation) {
    fill_normal(tensors_[tensor].value, deviation, Random::derive(seed, 1000, tensor));
  };
  const auto ones = [&](std::size_t tensor) {
    std::fill(tensors_[tensor].value.begin(), tensors_[tensor].value.end(), 1.0F);
  };
  for (Parameter& tensor : tensors_) {
    std::fill(tensor.first_moment.begin(), tensor.first_moment.end(), 0.0F);
    std::fill(tensor.second_moment.begin(), tensor.second_moment.end(), 0.0F);
    std::fill(tensor.value.begin(), tensor.value.end(), 0.0F);
  }
  // Rows of unit length: tied, so they must suit input and output; y starts with unit variance, so
  // do the logits.
  normal(index_.embedding, 1.0 / std::sqrt(e));
  // The token enters the residual stream at about the size of a GRU's output (~0.3).
  normal(index_.in_proj, 0.3);
  for (const GruLayerIndex& layer : index_.layers) {
    ones(layer.gru_norm);
    ones(layer.attn_norm);
    normal(layer.w_ih, 1.0 / std::sqrt(d));
    normal(layer.w_hh, 1.0 / std::sqrt(d));
    // z near σ(1) = 0.73: gradients reach some tokens back from the first step on (Jozefowicz et
    // al. 2015 for the LSTM's gate).
    std::vector<float>& bias = tensors_[layer.b_ih].value;
    std::fill(bias.begin() + config_.hidden_dim, bias.begin() + 2 * config_.hidden_dim, 1.0F);
    normal(layer.w_qkv, 1.0 / std::sqrt(d));
    normal(layer.w_o, 0.5 / std::sqrt(static_cast<double>(config_.attention_dim())));
  }
  ones(index_.final_norm);
  normal(index_.out_proj, 1.0 / std::sqrt(d));
  if (unigram.size() == config_.vocabulary_size) {
    const double total = std::accumulate(unigram.begin(), unigram.end(), 0.0);
    // 5e-8 stands for pieces never seen; logits have no natural zero, so any offset will do.
    // not taken off.
    std::vector<float>& bias = tensors_[index_.out_bias].value;
    for (std::size_t i = 0; i < bias.size(); ++i) {
      bias[i] = total > 0.0 ? static_cast<float>(std::log(unigram[i] / total + 5e-8) +
                                                 std::log(double(bias.size())))
                            : 0.0F;
    }
  }
}

}  // namespace laya::train

#include "train/decision/decision_graph.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "mlx/ops.h"
#include "train/mlx/ops.h"
#include "train/text/random.h"

namespace laya::train {
namespace {

constexpr float kFarBelow = -1e9F;  // a score that softmax gives nothing; its gradient is 0

mx::array silu(const mx::array& x) { return x * mx::sigmoid(x); }

// MLX's own operations, on one core: a step of these models is too small to share out. The
// trainer's fused ones (ops.h) wait for a second thread at every product; on a busy machine that
// took 40 times as long.

/// x [.., in] · weightᵀ [out, in], as one product.
mx::array product(const mx::array& x, const mx::array& weight) {
  mx::Shape shape = x.shape();
  shape.back() = weight.shape(0);
  const mx::array rows = mx::reshape(x, {-1, weight.shape(1)});
  return mx::reshape(mx::matmul(rows, mx::transpose(weight)), std::move(shape));
}

/// The rows of `table` at `ids`; zeros where an id is negative.
mx::array rows_at(const mx::array& table, const mx::array& ids) {
  const mx::array known = mx::expand_dims(mx::greater_equal(ids, mx::array(0)), -1);
  const mx::array rows = mx::take(table, mx::maximum(ids, mx::array(0)), 0);
  return mx::where(known, rows, mx::array(0.0F));
}

mx::array normalise(const mx::array& x, const mx::array& weight, float eps) {
  const mx::array square = mx::mean(mx::square(x), -1, true);
  return x * mx::rsqrt(square + mx::array(eps)) * weight;
}

}  // namespace

DecisionGraph::DecisionGraph(const model::DecisionConfig& config, std::vector<mx::array> weights,
                             float dropout, std::uint64_t seed)
    : config_(config),
      tensors_(model::decision_tensors(config)),
      weights_(std::move(weights)),
      dropout_(dropout),
      seed_(seed) {}

const mx::array& DecisionGraph::get(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &model::DecisionTensor::name);
  return weights_[static_cast<std::size_t>(found - tensors_.begin())];
}

mx::array DecisionGraph::drop(const mx::array& x, std::uint64_t place) const {
  return dropout(x, dropout_, Random::derive(seed_, 9, place));
}

mx::array DecisionGraph::answer(const mx::array& x) const {
  return product(x, get("out.weight")) + get("out.bias");
}

mx::array DecisionGraph::hidden(mx::array x) const {
  for (std::size_t l = 0; l < config_.hidden.size(); ++l) {
    const std::string at = "hidden." + std::to_string(l);
    x = drop(silu(product(x, get(at + ".weight")) + get(at + ".bias")), l);
  }
  return x;
}

mx::array DecisionGraph::scores(const mx::array& features) const {
  const mx::array out = answer(hidden(features)) + product(features, get("skip.weight"));
  return mx::reshape(out, {-1});
}

mx::array DecisionGraph::logits(const mx::array& ids) const {
  return config_.kind == model::DecisionKind::WindowedMlp ? windowed_mlp(ids) : transformer(ids);
}

mx::array DecisionGraph::windowed_mlp(const mx::array& ids) const {
  const mx::array x = rows_at(get("embedding.weight"), ids);
  return answer(hidden(mx::reshape(x, {ids.shape(0), -1})));
}

mx::array DecisionGraph::block(const mx::array& x, const mx::array& mask, std::size_t layer) const {
  const std::string at = "layers." + std::to_string(layer) + ".";
  const int batch = x.shape(0), window = x.shape(1);
  const int heads = static_cast<int>(config_.heads), k = static_cast<int>(config_.head_dim);
  const int a = heads * k;
  const mx::array normed = normalise(x, get(at + "attn_norm.weight"), config_.norm_eps);
  const mx::array kv = product(normed, get(at + "attn.w_kv"));
  const auto by_head = [&](const mx::array& flat) {  // [B, W, a] ▶ [B, H, W, k]
    return mx::transpose(mx::reshape(flat, {batch, window, heads, k}), {0, 2, 1, 3});
  };
  const mx::array q = by_head(product(normed, get(at + "attn.w_q")));
  const mx::array keys = by_head(mx::slice(kv, {0, 0, 0}, {batch, window, a}));
  const mx::array values = by_head(mx::slice(kv, {0, 0, a}, {batch, window, 2 * a}));
  const mx::array scale(1.0F / std::sqrt(static_cast<float>(k)));
  const mx::array weights =
      mx::softmax(mx::matmul(q, mx::transpose(keys, {0, 1, 3, 2})) * scale + mask, -1);
  const mx::array mixed =
      mx::reshape(mx::transpose(mx::matmul(weights, values), {0, 2, 1, 3}), {batch, window, a});
  const mx::array after = x + drop(product(mixed, get(at + "attn.w_o")), 2 * layer);
  const mx::array inner = normalise(after, get(at + "ffn_norm.weight"), config_.norm_eps);
  const mx::array gated =
      silu(product(inner, get(at + "ffn.w_gate"))) * product(inner, get(at + "ffn.w_up"));
  return after + drop(product(gated, get(at + "ffn.w_down")), 2 * layer + 1);
}

mx::array DecisionGraph::transformer(const mx::array& ids) const {
  const int batch = ids.shape(0), window = ids.shape(1),
            e = static_cast<int>(config_.embedding_dim);
  const mx::array newest_last = mx::arange(window - 1, -1, -1, mx::int32);
  mx::array x =
      rows_at(get("embedding.weight"), ids) + mx::take(get("position.weight"), newest_last, 0);
  const mx::array mask =
      mx::reshape(mx::where(mx::less(ids, mx::array(0)), mx::array(kFarBelow), mx::array(0.0F)),
                  {batch, 1, 1, window});
  for (std::size_t l = 0; l < config_.layers; ++l) {
    x = block(x, mask, l);
  }
  const mx::array newest =
      mx::reshape(mx::slice(x, {0, window - 1, 0}, {batch, window, e}), {batch, e});
  return answer(normalise(newest, get("final_norm.weight"), config_.norm_eps));
}

mx::array rank_loss(RankLoss kind, const mx::array& scores, const mx::array& places,
                    const mx::array& target) {
  const float fixed[] = {0.0F, kFarBelow};
  const mx::array all = mx::concatenate({mx::array(fixed, {2}, mx::float32), scores}, 0);
  const mx::array table = mx::take(all, places);                                      // [G, M]
  const mx::array right = mx::take_along_axis(table, mx::expand_dims(target, 1), 1);  // [G, 1]
  if (kind == RankLoss::ListNet) {
    return mx::mean(mx::logsumexp(table, 1, true) - right);
  }
  // The pair of the right one with itself costs ln 2 whatever the scores: taken off again.
  const mx::array present = mx::astype(mx::not_equal(places, mx::array(kAbsentPlace)), mx::float32);
  const mx::array pairs = mx::logaddexp(mx::zeros_like(table), table - right) * present;
  const mx::array others = mx::sum(present, 1) - mx::array(1.0F);
  return mx::mean((mx::sum(pairs, 1) - mx::array(std::log(2.0F))) / others);
}

mx::array action_loss(const mx::array& logits, const mx::array& target) {
  const mx::array right = mx::take_along_axis(logits, mx::expand_dims(target, 1), 1);
  return mx::mean(mx::logsumexp(logits, 1, true) - right);
}

}  // namespace laya::train

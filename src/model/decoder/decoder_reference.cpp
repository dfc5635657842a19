// The specification of a decoder's pass: plain fp32 loops, one column after the other. The other
// backends are tested against it. Read forward() first.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "model/decoder/decoder_backends.h"
#include "model/decoder/decoder_checks.h"
#include "model/decoder/decoder_rope.h"
#include "model/gru/call_checks.h"
#include "simd/dispatch.h"
#include "simd/kv_attention.h"

namespace laya::model {
namespace {

using Vector = std::vector<float>;
using Layer = DecoderWeights<FloatMatrix>::Layer;

float dot(std::span<const float> a, std::span<const float> b) {
  // Eight partial sums: closer to the exact value than one, and the compiler can use vectors.
  std::array<float, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= a.size(); i += sums.size()) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] += a[i + j] * b[i + j];
    }
  }
  float sum = 0;
  for (; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  for (const float part : sums) {
    sum += part;
  }
  return sum;
}

/// y = W x + bias.
void multiply(const FloatMatrix& weights, std::span<const float> x, std::span<const float> bias,
              std::span<float> y) {
  for (std::size_t r = 0; r < weights.rows; ++r) {
    y[r] = dot(weights.row(r), x) + (bias.empty() ? 0.0F : bias[r]);
  }
}

/// y = x / sqrt(mean(x²) + eps) * weight; y may be x.
void rms_norm(std::span<const float> x, std::span<const float> weight, float eps,
              std::span<float> y) {
  const float scale = 1.0F / std::sqrt(dot(x, x) / static_cast<float>(x.size()) + eps);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = x[i] * scale * weight[i];
  }
}

/// Rotates the pairs (x[i], x[i + half]) of one head.
void rotate(std::span<float> head, std::span<const float> cosines, std::span<const float> sines) {
  const std::size_t half = head.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const float a = head[i], b = head[i + half];
    head[i] = a * cosines[i] - b * sines[i];
    head[i + half] = b * cosines[i] + a * sines[i];
  }
}

float activate(Activation activation, float x) {
  if (activation == Activation::SiLU) {
    return x / (1.0F + std::exp(-x));
  }
  const float inner = 0.7978845608F * (x + 0.044715F * x * x * x);  // sqrt(2 / pi)
  return 0.5F * x * (1.0F + std::tanh(inner));
}

bool finite(std::span<const float> x) {
  return std::ranges::all_of(x, [](float value) { return std::isfinite(value); });
}

struct ReferenceWorkspace final : Workspace {
  explicit ReferenceWorkspace(const DecoderConfig& c)
      : x(c.hidden_dim),
        u(c.hidden_dim),
        q(c.q_dim()),
        k(c.kv_dim()),
        v(c.kv_dim()),
        attended(c.q_dim()),
        y(c.hidden_dim),
        gate(c.ffn_dim),
        up(c.ffn_dim),
        cosines(c.head_dim / 2),
        sines(c.head_dim / 2),
        row(c.head_dim),
        logits(c.vocabulary_size) {}

  Vector x, u, q, k, v, attended, y, gate, up, cosines, sines, row, logits;
  Vector hidden, scores;             // [n, d]; by slot
  std::vector<std::uint32_t> slots;  // that one token attends to
};

class ReferenceDecoder final : public Decoder {
 public:
  ReferenceDecoder(const DecoderConfig& config, OwnedFloatDecoder owned)
      : config_(config), owned_(std::move(owned)), weights_(owned_.weights), rope_(config) {}

  const DecoderConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return "reference"; }
  std::size_t weights_bytes() const override { return config_.parameter_count() * sizeof(float); }
  std::unique_ptr<Workspace> make_workspace(Threads) const override {
    return std::make_unique<ReferenceWorkspace>(config_);
  }

  Status logits(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, config_.vocabulary_size, out);
        !status) {
      return status;
    }
    static_cast<void>(workspace);
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t row = 0; row < config_.vocabulary_size; ++row) {
        out[c * config_.vocabulary_size + row] = score(column_of(hidden, c), row);
      }
    }
    return finite_scores(out);
  }

  Status logits_rows(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                     std::span<const TokenId> rows, std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, rows.size(), out); !status) {
      return status;
    }
    if (auto status = check_rows(config_, rows); !status) {
      return status;
    }
    static_cast<void>(workspace);
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        out[c * rows.size() + i] = score(column_of(hidden, c), rows[i]);
      }
    }
    return finite_scores(out);
  }

  Status log_normalizers(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
      return status;
    }
    auto& ws = static_cast<ReferenceWorkspace&>(workspace);
    for (std::size_t c = 0; c < columns; ++c) {
      if (auto status = logits(ws, column_of(hidden, c), 1, ws.logits); !status) {
        return status;
      }
      const float largest = *std::ranges::max_element(ws.logits);
      double sum = 0;
      for (const float logit : ws.logits) {
        sum += std::exp(static_cast<double>(logit - largest));
      }
      out[c] = largest + static_cast<float>(std::log(sum));
    }
    return {};
  }

 private:
  Status forward(Workspace& workspace, KvCache& cache, Pass pass, std::span<const Column> columns,
                 std::span<float> hidden, const base::CancelFlag* cancel) const override {
    auto& ws = static_cast<ReferenceWorkspace&>(workspace);
    const std::size_t n = columns.size(), d = config_.hidden_dim;
    ws.hidden.resize(n * d);
    ws.slots.resize(cache.slots());
    ws.scores.resize(cache.slots());
    for (std::size_t c = 0; c < n; ++c) {
      const auto node = static_cast<KvNodeId>(cache.node_count() - n + c);
      const std::size_t position =
          pass == Pass::Main ? cache.length() + c : cache.length() + cache.depth(node) - 1;
      const std::size_t slot =
          pass == Pass::Main ? cache.slot_of_position(position) : cache.slot_of_node(node);

      const std::span<const float> embedded = weights_.embedding.row(columns[c].token);
      for (std::size_t i = 0; i < d; ++i) {
        ws.x[i] = embedded[i] * config_.embedding_scale;
      }
      for (std::size_t l = 0; l < config_.layers; ++l) {
        if (cancel != nullptr && cancel->cancelled()) {
          return Error{ErrorCode::Cancelled, "decoder: cancelled"};
        }
        const std::size_t window = config_.slides(l) ? config_.sliding_window : 0;
        const std::size_t count = pass == Pass::Main
                                      ? cache.context_of_position(position, window, ws.slots)
                                      : cache.context_of_node(node, window, ws.slots);
        attention(ws, cache, l, position, slot, count);
        feed_forward(ws, weights_.layers[l]);
      }
      rms_norm(ws.x, weights_.final_norm, config_.norm_eps, std::span(ws.hidden).subspan(c * d, d));
    }
    if (!finite(ws.hidden)) {
      return not_finite("the residual stream");
    }
    std::ranges::copy(std::span(ws.hidden).last(hidden.size()), hidden.begin());
    return {};
  }

  /// x += o(attention(norm(x))); the token's key and value go to `slot`.
  void attention(ReferenceWorkspace& ws, KvCache& cache, std::size_t l, std::size_t position,
                 std::size_t slot, std::size_t count) const {
    const Layer& layer = weights_.layers[l];
    const std::size_t hd = config_.head_dim;
    rms_norm(ws.x, layer.attn_norm, config_.norm_eps, ws.u);
    multiply(layer.q, ws.u, layer.q_bias, ws.q);
    multiply(layer.k, ws.u, layer.k_bias, ws.k);
    multiply(layer.v, ws.u, layer.v_bias, ws.v);
    rope_.angles(position, config_.slides(l), ws.cosines, ws.sines);
    prepare_heads(ws, ws.q, layer.q_norm);
    prepare_heads(ws, ws.k, layer.k_norm);
    const simd::KvPlane keys = cache.keys(l), values = cache.values(l);
    simd::store_kv(kernels_, keys, slot, ws.k);
    simd::store_kv(kernels_, values, slot, ws.v);

    const std::size_t group = config_.heads / config_.kv_heads;
    for (std::size_t h = 0; h < config_.heads; ++h) {
      const std::span<const float> query = std::span(ws.q).subspan(h * hd, hd);
      const std::span<float> scores = std::span(ws.scores).first(count);
      for (std::size_t j = 0; j < count; ++j) {
        simd::load_kv(kernels_, keys, h / group, ws.slots[j], ws.row);
        scores[j] = config_.attention_scale * dot(query, ws.row);
      }
      softmax(scores);
      const std::span<float> out = std::span(ws.attended).subspan(h * hd, hd);
      std::ranges::fill(out, 0.0F);
      for (std::size_t j = 0; j < count; ++j) {
        simd::load_kv(kernels_, values, h / group, ws.slots[j], ws.row);
        for (std::size_t i = 0; i < hd; ++i) {
          out[i] += scores[j] * ws.row[i];
        }
      }
    }
    multiply(layer.o, ws.attended, {}, ws.y);
    add_update(ws, layer.attn_post_norm);
  }

  /// x += down(act(gate(norm(x))) * up(norm(x))).
  void feed_forward(ReferenceWorkspace& ws, const Layer& layer) const {
    rms_norm(ws.x, layer.ffn_norm, config_.norm_eps, ws.u);
    multiply(layer.gate, ws.u, {}, ws.gate);
    multiply(layer.up, ws.u, {}, ws.up);
    for (std::size_t i = 0; i < ws.gate.size(); ++i) {
      ws.gate[i] = activate(config_.activation, ws.gate[i]) * ws.up[i];
    }
    multiply(layer.down, ws.gate, {}, ws.y);
    add_update(ws, layer.ffn_post_norm);
  }

  /// Norm (where the family has one) and rotation of every head.
  void prepare_heads(ReferenceWorkspace& ws, std::span<float> heads,
                     std::span<const float> norm) const {
    for (std::size_t at = 0; at < heads.size(); at += config_.head_dim) {
      const std::span<float> head = heads.subspan(at, config_.head_dim);
      if (!norm.empty()) {
        rms_norm(head, norm, config_.norm_eps, head);
      }
      rotate(head, ws.cosines, ws.sines);
    }
  }

  void add_update(ReferenceWorkspace& ws, std::span<const float> post_norm) const {
    if (!post_norm.empty()) {
      rms_norm(ws.y, post_norm, config_.norm_eps, ws.y);
    }
    for (std::size_t i = 0; i < ws.x.size(); ++i) {
      ws.x[i] += ws.y[i];
    }
  }

  static void softmax(std::span<float> scores) {
    const float largest = *std::ranges::max_element(scores);
    float sum = 0;
    for (float& score : scores) {
      score = std::exp(score - largest);
      sum += score;
    }
    for (float& score : scores) {
      score /= sum;
    }
  }

  std::span<const float> column_of(std::span<const float> hidden, std::size_t column) const {
    return hidden.subspan(column * config_.hidden_dim, config_.hidden_dim);
  }

  float score(std::span<const float> hidden, std::size_t row) const {
    const float raw = dot(weights_.head.row(row), hidden);
    const float cap = config_.logit_soft_cap;
    return cap > 0 ? cap * std::tanh(raw / cap) : raw;
  }

  static Status finite_scores(std::span<float> out) {
    if (finite(out)) {
      return {};
    }
    std::ranges::fill(out, 0.0F);
    return not_finite("the scores");
  }

  DecoderConfig config_;
  OwnedFloatDecoder owned_;
  const DecoderWeights<FloatMatrix>& weights_;
  RopeFrequencies rope_;
  const simd::Kernels& kernels_ = simd::scalar_kernels();
};

}  // namespace

std::unique_ptr<Decoder> make_reference_decoder(const DecoderConfig& config,
                                                OwnedFloatDecoder weights) {
  return std::make_unique<ReferenceDecoder>(config, std::move(weights));
}

}  // namespace laya::model

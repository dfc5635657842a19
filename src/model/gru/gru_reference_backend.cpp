#include "model/gru/gru_reference_backend.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/gru/call_checks.h"

namespace laya::model {
namespace {

// ---- the operations ----

/// y[r] = bias[r] + Σ_k w[r][k] x[k]
void matvec(const FloatMatrix& w, std::span<const float> x, std::span<const float> bias,
            std::span<float> y) {
  for (std::size_t r = 0; r < w.rows; ++r) {
    const std::span<const float> row = w.row(r);
    // Eight partial sums, joined in a fixed order: one running sum would make the compiler keep one
    // addition waiting for the other.
    float part[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= w.columns; k += 8) {
      for (std::size_t i = 0; i < 8; ++i) {
        part[i] += row[k + i] * x[k + i];
      }
    }
    float rest = 0.0F;
    for (; k < w.columns; ++k) {
      rest += row[k] * x[k];
    }
    const float sum =
        ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
    y[r] = (bias.empty() ? 0.0F : bias[r]) + sum + rest;
  }
}

/// Root-mean-square norm (Zhang and Sennrich 2019).
void rms_norm(std::span<const float> x, std::span<const float> weight, float eps,
              std::span<float> y) {
  double squares = 0.0;
  for (const float value : x) {
    squares += double{value} * value;
  }
  const auto scale =
      static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(x.size()) + eps));
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = x[i] * scale * weight[i];
  }
}

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

void softmax(std::span<float> x) {
  const float largest = *std::ranges::max_element(x);
  float sum = 0.0F;
  for (float& value : x) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (float& value : x) {
    value /= sum;
  }
}

bool all_finite(std::span<const float> x) {
  return std::ranges::all_of(x, [](float value) { return std::isfinite(value); });
}

// ---- the model ----

struct ReferenceWorkspace final : Workspace {
  explicit ReferenceWorkspace(const GruConfig& config)
      : x(config.hidden_dim),
        normed(config.hidden_dim),
        gi(3 * config.hidden_dim),
        gh(3 * config.hidden_dim),
        qkv(3 * config.attention_dim()),
        heads(config.attention_dim()),
        update(config.hidden_dim),
        scores(config.window),
        logits(config.vocabulary_size) {
    for (std::size_t column = 0; column < kMaxColumns; ++column) {
      next.emplace_back(config);
    }
  }

  std::vector<float> x, normed, gi, gh, qkv, heads, update, scores, logits;
  std::vector<State>
      next;  ///< [kMaxColumns]: results wait here until all columns are known to be finite
};

class ReferenceModel final : public LanguageModel {
 public:
  ReferenceModel(const GruConfig& config, OwnedFloatWeights owned)
      : config_(config), owned_(std::move(owned)), weights_(owned_.weights) {}

  const GruConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return "reference"; }
  std::size_t weights_bytes() const override { return config_.parameter_count() * sizeof(float); }
  std::unique_ptr<Workspace> make_workspace(Threads) const override {
    return std::make_unique<ReferenceWorkspace>(config_);
  }

  using LanguageModel::advance;
  Status advance(Workspace& workspace, std::span<State* const> states,
                 std::span<const TokenId> tokens, std::span<float> hidden) const override {
    if (auto status = check_advance(config_, states, tokens, hidden); !status) {
      return status;
    }
    auto& scratch = static_cast<ReferenceWorkspace&>(workspace);
    for (std::size_t i = 0; i < states.size(); ++i) {
      State& next = scratch.next[i];
      if (auto status = next.copy_from(*states[i]); !status) {
        return status;
      }
      step(scratch, next, tokens[i]);
      if (!all_finite(next.numbers())) {
        return not_finite("a step");
      }
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (auto status = states[i]->copy_from(scratch.next[i]); !status) {
        return status;
      }
      if (!hidden.empty()) {
        std::ranges::copy(states[i]->output(), hidden.subspan(i * config_.embedding_dim).begin());
      }
    }
    return {};
  }

  Status logits(Workspace&, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const override {
    const std::size_t rows = config_.vocabulary_size;
    if (auto status = check_scores(config_, hidden, columns, rows, out); !status) {
      return status;
    }
    for (std::size_t i = 0; i < columns; ++i) {
      const std::span<float> scores = out.subspan(i * rows, rows);
      matvec(weights_.embedding, column_of(hidden, i), weights_.out_bias, scores);
      if (!all_finite(scores)) {
        std::ranges::fill(out, 0.0F);
        return not_finite("the scores");
      }
    }
    return {};
  }

  Status logits_rows(Workspace&, std::span<const float> hidden, std::size_t columns,
                     std::span<const TokenId> rows, std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, rows.size(), out); !status) {
      return status;
    }
    if (auto status = check_rows(config_, rows); !status) {
      return status;
    }
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        const FloatMatrix row{weights_.embedding.row(rows[j]), 1, config_.embedding_dim};
        matvec(row, column_of(hidden, i), weights_.out_bias.subspan(rows[j], 1),
               out.subspan(i * rows.size() + j, 1));
      }
    }
    if (!all_finite(out)) {
      std::ranges::fill(out, 0.0F);
      return not_finite("the scores");
    }
    return {};
  }

  Status log_normalizers(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
      return status;
    }
    auto& scratch = static_cast<ReferenceWorkspace&>(workspace);
    for (std::size_t i = 0; i < columns; ++i) {
      if (auto status = logits(workspace, column_of(hidden, i), 1, scratch.logits); !status) {
        return status;
      }
      out[i] = log_sum_exp(scratch.logits);
    }
    return {};
  }

 private:
  std::span<const float> column_of(std::span<const float> hidden, std::size_t column) const {
    return hidden.subspan(column * config_.embedding_dim, config_.embedding_dim);
  }

  /// One token. `state` moves past it; x is the residual stream [d].
  void step(ReferenceWorkspace& s, State& state, TokenId token) const {
    const std::uint64_t now = state.position();

    matvec(weights_.in_proj, weights_.embedding.row(token), {}, s.x);
    for (std::size_t l = 0; l < config_.layers; ++l) {
      const auto& layer = weights_.layers[l];

      // GRU cell (Cho et al. 2014, in PyTorch's form: the reset gate acts after the product): h
      // replaces the old h, x gains it.
      rms_norm(s.x, layer.gru_norm, config_.norm_eps, s.normed);
      gru(s, layer, state.hidden(l));
      add(state.hidden(l), s.x);

      // Attention of this token to itself and the W-1 before it, by relative position.
      rms_norm(s.x, layer.attn_norm, config_.norm_eps, s.normed);
      matvec(layer.w_qkv, s.normed, {}, s.qkv);
      const std::size_t a = config_.attention_dim();
      std::ranges::copy(std::span(s.qkv).subspan(a, a), state.key(l, now).begin());
      std::ranges::copy(std::span(s.qkv).subspan(2 * a, a), state.value(l, now).begin());
      attend(s, layer, state, l, now);
      matvec(layer.w_o, s.heads, {}, s.update);
      add(s.update, s.x);
    }
    rms_norm(s.x, weights_.final_norm, config_.norm_eps, s.normed);
    matvec(weights_.out_proj, s.normed, {}, state.mutable_output());
    state.set_position(now + 1);
  }

  void gru(ReferenceWorkspace& s, const FloatWeights::Layer& layer, std::span<float> h) const {
    matvec(layer.w_ih, s.normed, layer.b_ih, s.gi);
    matvec(layer.w_hh, h, layer.b_hh, s.gh);
    const std::size_t d = config_.hidden_dim;
    for (std::size_t i = 0; i < d; ++i) {
      const float r = sigmoid(s.gi[i] + s.gh[i]);
      const float z = sigmoid(s.gi[d + i] + s.gh[d + i]);
      const float c = std::tanh(s.gi[2 * d + i] + r * s.gh[2 * d + i]);
      h[i] = (1.0F - z) * c + z * h[i];
    }
  }

  void attend(ReferenceWorkspace& s, const FloatWeights::Layer& layer, const State& state,
              std::size_t l, std::uint64_t now) const {
    const std::size_t k = config_.head_dim;
    const std::size_t count = std::min<std::uint64_t>(now + 1, config_.window);
    const float scale = 1.0F / std::sqrt(static_cast<float>(k));
    const std::span<float> scores = std::span(s.scores).first(count);
    for (std::size_t head = 0; head < config_.heads; ++head) {
      for (std::size_t j = 0; j < count; ++j) {  // j steps back
        const std::span<const float> key = state.key(l, now - j).subspan(head * k, k);
        float dot = 0.0F;
        for (std::size_t i = 0; i < k; ++i) {
          dot += s.qkv[head * k + i] * key[i];
        }
        scores[j] = dot * scale + layer.rel_bias[head * config_.window + j];
      }
      softmax(scores);
      for (std::size_t i = 0; i < k; ++i) {
        float sum = 0.0F;
        for (std::size_t j = 0; j < count; ++j) {
          sum += scores[j] * state.value(l, now - j)[head * k + i];
        }
        s.heads[head * k + i] = sum;
      }
    }
  }

  static void add(std::span<const float> x, std::span<float> accumulator) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      accumulator[i] += x[i];
    }
  }

  GruConfig config_;
  OwnedFloatWeights owned_;
  const FloatWeights& weights_;
};

}  // namespace

std::unique_ptr<LanguageModel> make_reference_model(const GruConfig& config,
                                                    OwnedFloatWeights weights) {
  return std::make_unique<ReferenceModel>(config, std::move(weights));
}

std::span<const float> tensor_numbers(const GruConfig& config, const FloatWeights& weights,
                                      std::string_view name) {
  if (name == "embedding.weight") return weights.embedding.data;
  if (name == "in_proj.weight") return weights.in_proj.data;
  if (name == "out_proj.weight") return weights.out_proj.data;
  if (name == "final_norm.weight") return weights.final_norm;
  if (name == "out_bias") return weights.out_bias;
  for (std::size_t l = 0; l < config.layers; ++l) {
    const std::string start = layer_tensor(l, "");
    if (!name.starts_with(start)) {
      continue;
    }
    const auto& layer = weights.layers[l];
    const std::string_view rest = name.substr(start.size());
    if (rest == "gru_norm.weight") return layer.gru_norm;
    if (rest == "gru.w_ih") return layer.w_ih.data;
    if (rest == "gru.w_hh") return layer.w_hh.data;
    if (rest == "gru.b_ih") return layer.b_ih;
    if (rest == "gru.b_hh") return layer.b_hh;
    if (rest == "attn_norm.weight") return layer.attn_norm;
    if (rest == "attn.w_qkv") return layer.w_qkv.data;
    if (rest == "attn.rel_bias") return layer.rel_bias;
    if (rest == "attn.w_o") return layer.w_o.data;
  }
  return {};
}

}  // namespace laya::model

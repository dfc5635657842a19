#include "model/gru/gru_mlx_backend.h"

#include <mlx/mlx.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/gru/call_checks.h"

namespace laya::model {
namespace {

namespace mx = mlx::core;

constexpr int kGroup = 64;
constexpr int kBits = 8;

/// A matrix [rows, columns]; quantised where `scales` is set.
struct MlxMatrix {
  std::optional<mx::array> weights;
  std::optional<mx::array> scales;
  std::optional<mx::array> biases;
};

mx::array to_array(std::span<const float> data, mx::Shape shape) {
  return mx::array(data.data(), std::move(shape), mx::float32);
}

mx::array vector_array(std::span<const float> data) {
  return to_array(data, {static_cast<int>(data.size())});
}

MlxMatrix to_matrix(const FloatMatrix& matrix, MlxWeights precision) {
  MlxMatrix out;
  out.weights =
      to_array(matrix.data, {static_cast<int>(matrix.rows), static_cast<int>(matrix.columns)});
  if (precision == MlxWeights::Int8 && matrix.columns % kGroup == 0) {
    std::vector<mx::array> parts = mx::quantize(*out.weights, kGroup, kBits);
    out.weights = parts[0];
    out.scales = parts[1];
    out.biases = parts[2];
    mx::eval(*out.weights, *out.scales, *out.biases);
  } else {
    mx::eval(*out.weights);
  }
  return out;
}

/// x [n, columns] → [n, rows]
mx::array multiply(const mx::array& x, const MlxMatrix& m) {
  if (m.scales) {
    return mx::quantized_matmul(x, *m.weights, *m.scales, m.biases, true, kGroup, kBits);
  }
  return mx::matmul(x, mx::transpose(*m.weights));
}

/// The rows of an embedding that `tokens` name, [n, columns].
mx::array rows_of(const MlxMatrix& m, const mx::array& tokens) {
  const mx::array rows = mx::take(*m.weights, tokens, 0);
  if (m.scales) {
    return mx::dequantize(rows, mx::take(*m.scales, tokens, 0), mx::take(*m.biases, tokens, 0),
                          kGroup, kBits);
  }
  return rows;
}

mx::array rms_norm(const mx::array& x, const mx::array& weight, float eps) {
  return x * mx::rsqrt(mx::mean(mx::square(x), -1, true) + mx::array(eps)) * weight;
}

bool all_finite(std::span<const float> x) {
  return std::ranges::all_of(x, [](float value) { return std::isfinite(value); });
}

struct MlxLayer {
  mx::array gru_norm;
  MlxMatrix w_ih, w_hh;
  mx::array b_ih, b_hh, attn_norm;
  MlxMatrix w_qkv;
  mx::array rel_bias;  ///< [1, W, H], 1: for broadcasting over columns
  MlxMatrix w_o;
};

struct MlxWorkspace final : Workspace {};

class MlxModel final : public LanguageModel {
 public:
  /// Throws what MLX throws.
  MlxModel(const GruConfig& config, const FloatWeights& weights, MlxWeights precision)
      : config_(config),
        precision_(precision),
        embedding_(to_matrix(weights.embedding, precision)),
        in_proj_(to_matrix(weights.in_proj, precision)),
        final_norm_(vector_array(weights.final_norm)),
        out_proj_(to_matrix(weights.out_proj, precision)),
        out_bias_(vector_array(weights.out_bias)) {
    for (const auto& layer : weights.layers) {
      const mx::array bias = to_array(
          layer.rel_bias, {static_cast<int>(config.heads), static_cast<int>(config.window)});
      layers_.push_back({vector_array(layer.gru_norm), to_matrix(layer.w_ih, precision),
                         to_matrix(layer.w_hh, precision), vector_array(layer.b_ih),
                         vector_array(layer.b_hh), vector_array(layer.attn_norm),
                         to_matrix(layer.w_qkv, precision),
                         mx::expand_dims(mx::contiguous(mx::transpose(bias)), 0),
                         to_matrix(layer.w_o, precision)});
      mx::eval(layers_.back().rel_bias);
    }
  }

  const GruConfig& config() const override { return config_; }
  std::string_view backend_name() const override {
    return precision_ == MlxWeights::Int8 ? "mlx-8bit" : "mlx";
  }
  std::size_t weights_bytes() const override {
    std::size_t bytes = matrix_bytes(embedding_) + matrix_bytes(in_proj_) +
                        matrix_bytes(out_proj_) + out_bias_.nbytes() + final_norm_.nbytes();
    for (const MlxLayer& layer : layers_) {
      bytes += matrix_bytes(layer.w_ih) + matrix_bytes(layer.w_hh) + matrix_bytes(layer.w_qkv) +
               matrix_bytes(layer.w_o) + layer.b_ih.nbytes() + layer.b_hh.nbytes();
    }
    return bytes;
  }
  std::unique_ptr<Workspace> make_workspace(Threads) const override {
    return std::make_unique<MlxWorkspace>();
  }

  using LanguageModel::advance;
  Status advance(Workspace&, std::span<State* const> states, std::span<const TokenId> tokens,
                 std::span<float> hidden) const override {
    if (auto status = check_advance(config_, states, tokens, hidden); !status) {
      return status;
    }
    return guarded([&] { return step(states, tokens, hidden); });
  }

  Status logits(Workspace&, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, config_.vocabulary_size, out);
        !status) {
      return status;
    }
    return guarded([&] { return fetch_scores(scores(hidden, columns), out); });
  }

  Status logits_rows(Workspace&, std::span<const float> hidden, std::size_t columns,
                     std::span<const TokenId> rows, std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, rows.size(), out); !status) {
      return status;
    }
    if (auto status = check_rows(config_, rows); !status) {
      return status;
    }
    if (rows.empty()) {
      return {};
    }
    return guarded([&] {
      const mx::array chosen(rows.data(), {static_cast<int>(rows.size())}, mx::uint32);
      const mx::array y =
          to_array(hidden, {static_cast<int>(columns), static_cast<int>(config_.embedding_dim)});
      const mx::array weights = rows_of(embedding_, chosen);
      return fetch_scores(mx::matmul(y, mx::transpose(weights)) + mx::take(out_bias_, chosen, 0),
                          out);
    });
  }

  Status log_normalizers(Workspace&, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
      return status;
    }
    return guarded([&] { return fetch_scores(mx::logsumexp(scores(hidden, columns), -1), out); });
  }

 private:
  static std::size_t matrix_bytes(const MlxMatrix& m) {
    return m.weights->nbytes() + (m.scales ? m.scales->nbytes() + m.biases->nbytes() : 0);
  }

  /// MLX's exceptions stop here.
  template <typename Call>
  Status guarded(Call&& call) const {
    const std::scoped_lock lock(mutex_);
    try {
      return call();
    } catch (const std::exception& error) {
      return Error{ErrorCode::Internal, std::string("mlx backend: ") + error.what()};
    }
  }

  mx::array scores(std::span<const float> hidden, std::size_t columns) const {
    const mx::array y =
        to_array(hidden, {static_cast<int>(columns), static_cast<int>(config_.embedding_dim)});
    return multiply(y, embedding_) + out_bias_;
  }

  static Status fetch_scores(mx::array scores, std::span<float> out) {
    scores = mx::contiguous(scores);
    scores.eval();
    std::copy_n(scores.data<float>(), out.size(), out.begin());
    if (!all_finite(out)) {
      std::ranges::fill(out, 0.0F);
      return not_finite("the scores");
    }
    return {};
  }

  /// The past tokens' keys or values of a layer by distance: [n, W-1, a]; absent ones are zero (and
  /// masked).
  template <typename Pick>
  mx::array past(std::span<State* const> states, Pick&& pick) const {
    const std::size_t a = config_.attention_dim(), kept = config_.past_tokens();
    std::vector<float> packed(states.size() * kept * a, 0.0F);
    for (std::size_t i = 0; i < states.size(); ++i) {
      const std::uint64_t now = states[i]->position();
      for (std::size_t j = 1; j <= kept && j <= now; ++j) {
        std::ranges::copy(pick(std::as_const(*states[i]), now - j),
                          packed.begin() + static_cast<std::ptrdiff_t>((i * kept + j - 1) * a));
      }
    }
    return to_array(packed,
                    {static_cast<int>(states.size()), static_cast<int>(kept), static_cast<int>(a)});
  }

  /// 0 where a distance has a token, −infinity where the sequence is shorter: [n, W, 1].
  mx::array mask(std::span<State* const> states) const {
    std::vector<float> packed;
    for (const State* state : states) {
      for (std::uint64_t j = 0; j < config_.window; ++j) {
        packed.push_back(j <= state->position() ? 0.0F : -std::numeric_limits<float>::infinity());
      }
    }
    return to_array(packed, {static_cast<int>(states.size()), static_cast<int>(config_.window), 1});
  }

  Status step(std::span<State* const> states, std::span<const TokenId> tokens,
              std::span<float> hidden) const {
    const int n = static_cast<int>(states.size());
    const int d = static_cast<int>(config_.hidden_dim),
              a = static_cast<int>(config_.attention_dim());
    const int heads = static_cast<int>(config_.heads), k = static_cast<int>(config_.head_dim);
    const int window = static_cast<int>(config_.window);
    const mx::array mask = this->mask(states);
    std::vector<mx::array> results;  // by layer: h, qkv; last y

    mx::array x =
        multiply(rows_of(embedding_, mx::array(tokens.data(), {n}, mx::uint32)), in_proj_);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const MlxLayer& layer = layers_[l];
      std::vector<float> old;
      for (const State* state : states) {
        old.insert(old.end(), state->hidden(l).begin(), state->hidden(l).end());
      }
      const mx::array h = to_array(old, {n, d});
      const mx::array u = rms_norm(x, layer.gru_norm, config_.norm_eps);
      const std::vector<mx::array> gi = mx::split(multiply(u, layer.w_ih) + layer.b_ih, 3, -1);
      const std::vector<mx::array> gh = mx::split(multiply(h, layer.w_hh) + layer.b_hh, 3, -1);
      const mx::array r = mx::sigmoid(gi[0] + gh[0]);
      const mx::array z = mx::sigmoid(gi[1] + gh[1]);
      const mx::array c = mx::tanh(gi[2] + r * gh[2]);
      const mx::array next = (mx::array(1.0F) - z) * c + z * h;
      x = x + next;

      const mx::array qkv = multiply(rms_norm(x, layer.attn_norm, config_.norm_eps), layer.w_qkv);
      const std::vector<mx::array> parts = mx::split(qkv, 3, -1);
      const auto with_past = [&](const mx::array& newest, const mx::array& older) {
        return mx::reshape(mx::concatenate({mx::expand_dims(newest, 1), older}, 1),
                           {n, window, heads, k});
      };
      const mx::array keys = with_past(
          parts[1], past(states, [l](const State& s, std::uint64_t t) { return s.key(l, t); }));
      const mx::array values = with_past(
          parts[2], past(states, [l](const State& s, std::uint64_t t) { return s.value(l, t); }));
      const mx::array query = mx::reshape(parts[0], {n, 1, heads, k});
      const mx::array fit =
          mx::sum(query * keys, -1) * mx::array(1.0F / std::sqrt(static_cast<float>(k)));
      const mx::array share = mx::softmax(fit + layer.rel_bias + mask, std::vector<int>{1});
      const mx::array heads_out =
          mx::reshape(mx::sum(mx::expand_dims(share, -1) * values, 1), {n, a});
      x = x + multiply(heads_out, layer.w_o);
      results.push_back(mx::contiguous(next));
      results.push_back(mx::contiguous(qkv));
    }
    results.push_back(
        mx::contiguous(multiply(rms_norm(x, final_norm_, config_.norm_eps), out_proj_)));
    mx::eval(results);
    for (const mx::array& result : results) {
      if (!all_finite({result.data<float>(), result.size()})) {
        return not_finite("a step");
      }
    }
    commit(states, results, hidden);
    return {};
  }

  void commit(std::span<State* const> states, const std::vector<mx::array>& results,
              std::span<float> hidden) const {
    const std::size_t d = config_.hidden_dim, a = config_.attention_dim(),
                      e = config_.embedding_dim;
    for (std::size_t i = 0; i < states.size(); ++i) {
      State& state = *states[i];
      for (std::size_t l = 0; l < layers_.size(); ++l) {
        const float* qkv = results[2 * l + 1].data<float>() + i * 3 * a;
        std::copy_n(results[2 * l].data<float>() + i * d, d, state.hidden(l).begin());
        std::copy_n(qkv + a, a, state.key(l, state.position()).begin());
        std::copy_n(qkv + 2 * a, a, state.value(l, state.position()).begin());
      }
      std::copy_n(results.back().data<float>() + i * e, e, state.mutable_output().begin());
      state.set_position(state.position() + 1);
      if (!hidden.empty()) {
        std::ranges::copy(state.output(), hidden.subspan(i * e).begin());
      }
    }
  }

  GruConfig config_;
  MlxWeights precision_;
  MlxMatrix embedding_, in_proj_;
  mx::array final_norm_;
  MlxMatrix out_proj_;
  mx::array out_bias_;
  std::vector<MlxLayer> layers_;
  mutable std::mutex mutex_;  ///< see make_mlx_model
};

}  // namespace

Result<std::unique_ptr<LanguageModel>> make_mlx_model(const GruConfig& config,
                                                      OwnedFloatWeights weights,
                                                      MlxWeights precision) {
  try {
    return std::unique_ptr<LanguageModel>(new MlxModel(config, weights.weights, precision));
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string("mlx backend: ") + error.what()};
  }
}

}  // namespace laya::model

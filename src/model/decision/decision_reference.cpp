// The specification of the decision models: plain loops in double, in the order of DECISION.md.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/core/tensor_lookup.h"
#include "model/decision/decision_checks.h"
#include "model/decision/decision_model.h"
#include "model/decision/decision_parts.h"
#include "model/gru/weights_loading.h"
#include "simd/dispatch.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using Vector = std::vector<double>;

double silu(double x) { return x / (1.0 + std::exp(-x)); }

class Reference {
 public:
  Reference(const DecisionConfig& config, const DecisionWeights& weights)
      : config_(config), weights_(weights), tensors_(decision_tensors(config)) {}

  Status check() const {
    bool same = weights_.size() == tensors_.size();
    for (std::size_t i = 0; same && i < tensors_.size(); ++i) {
      same = weights_[i].size() == tensors_[i].size();
    }
    return same ? Status{}
                : Error{ErrorCode::BadArgument, "decision model: weights of another shape"};
  }

  double score(std::span<const float> features) const {
    const std::vector<float>&mean = get("input.mean"), &scale = get("input.scale");
    Vector x(features.size());
    for (std::size_t f = 0; f < x.size(); ++f) {
      x[f] =
          std::clamp((static_cast<double>(features[f]) - static_cast<double>(mean[f])) *
                         static_cast<double>(scale[f]),
                     -static_cast<double>(kFarthestFeature), static_cast<double>(kFarthestFeature));
    }
    return product("skip.weight", x)[0] + product("out.weight", hidden(x), "out.bias")[0];
  }

  Vector windowed_mlp(std::span<const TokenId> window) const {
    const std::size_t e = config_.embedding_dim;
    Vector x(config_.window * e, 0.0);
    for (std::size_t i = 0; i < window.size(); ++i) {
      const Vector vector = row("embedding.weight", window[i], e);
      std::ranges::copy(vector, x.end() - static_cast<std::ptrdiff_t>((window.size() - i) * e));
    }
    return product("out.weight", hidden(x), "out.bias");
  }

  Vector transformer(std::span<const TokenId> window) const {
    const std::size_t e = config_.embedding_dim;
    std::vector<Vector> streams;
    for (std::size_t t = 0; t < window.size(); ++t) {
      Vector x = row("embedding.weight", window[t], e);
      add(row("position.weight", window.size() - 1 - t, e), x);
      streams.push_back(std::move(x));
    }
    for (std::size_t l = 0; l < config_.layers; ++l) {
      const std::string at = "layers." + std::to_string(l) + ".";
      std::vector<Vector> queries, keys_values;
      for (const Vector& x : streams) {
        const Vector normed = rms_norm(x, at + "attn_norm.weight");
        queries.push_back(product(at + "attn.w_q", normed));
        keys_values.push_back(product(at + "attn.w_kv", normed));
      }
      for (std::size_t t = 0; t < streams.size(); ++t) {
        add(product(at + "attn.w_o", attention(queries[t], keys_values)), streams[t]);
        const Vector normed = rms_norm(streams[t], at + "ffn_norm.weight");
        Vector gate = product(at + "ffn.w_gate", normed);
        const Vector up = product(at + "ffn.w_up", normed);
        for (std::size_t i = 0; i < gate.size(); ++i) {
          gate[i] = silu(gate[i]) * up[i];
        }
        add(product(at + "ffn.w_down", gate), streams[t]);
      }
    }
    return product("out.weight", rms_norm(streams.back(), "final_norm.weight"), "out.bias");
  }

 private:
  const std::vector<float>& get(std::string_view name) const {
    const auto found = std::ranges::find(tensors_, name, &DecisionTensor::name);
    return weights_[static_cast<std::size_t>(found - tensors_.begin())];
  }

  Vector row(std::string_view matrix, std::size_t index, std::size_t columns) const {
    const auto at = get(matrix).begin() + static_cast<std::ptrdiff_t>(index * columns);
    return Vector(at, at + static_cast<std::ptrdiff_t>(columns));
  }

  /// W x + b
  Vector product(std::string_view matrix, const Vector& x, std::string_view bias = {}) const {
    const std::vector<float>& w = get(matrix);
    Vector out(w.size() / x.size(), 0.0);
    for (std::size_t r = 0; r < out.size(); ++r) {
      out[r] = bias.empty() ? 0.0 : static_cast<double>(get(bias)[r]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        out[r] += static_cast<double>(w[r * x.size() + i]) * x[i];
      }
    }
    return out;
  }

  Vector hidden(Vector x) const {
    for (std::size_t l = 0; l < config_.hidden.size(); ++l) {
      const std::string at = "hidden." + std::to_string(l);
      x = product(at + ".weight", x, at + ".bias");
      std::ranges::transform(x, x.begin(), silu);
    }
    return x;
  }

  static void add(const Vector& x, Vector& into) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      into[i] += x[i];
    }
  }

  Vector rms_norm(const Vector& x, std::string_view weight) const {
    double square = 0.0;
    for (const double value : x) {
      square += value * value;
    }
    const double scale = 1.0 / std::sqrt(square / static_cast<double>(x.size()) +
                                         static_cast<double>(config_.norm_eps));
    Vector out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] = x[i] * scale * static_cast<double>(get(weight)[i]);
    }
    return out;
  }

  /// One query over all tokens, head by head.
  Vector attention(const Vector& query, const std::vector<Vector>& keys_values) const {
    const std::size_t k = config_.head_dim, a = config_.attention_dim();
    Vector out(a, 0.0);
    for (std::size_t head = 0; head < config_.heads; ++head) {
      Vector weight;
      for (const Vector& token : keys_values) {
        double dot = 0.0;
        for (std::size_t i = head * k; i < (head + 1) * k; ++i) {
          dot += query[i] * token[i];
        }
        weight.push_back(dot / std::sqrt(static_cast<double>(k)));
      }
      const double largest = *std::ranges::max_element(weight);
      double sum = 0.0;
      for (double& w : weight) {
        w = std::exp(w - largest);
        sum += w;
      }
      for (std::size_t t = 0; t < weight.size(); ++t) {
        for (std::size_t i = head * k; i < (head + 1) * k; ++i) {
          out[i] += weight[t] / sum * keys_values[t][a + i];
        }
      }
    }
    return out;
  }

  const DecisionConfig& config_;
  const DecisionWeights& weights_;
  std::vector<DecisionTensor> tensors_;
};

}  // namespace

Status reference_scores(const DecisionConfig& config, const DecisionWeights& weights,
                        std::span<const float> features, std::span<float> out) {
  const Reference reference(config, weights);
  if (Status status = check_decision_features(config, features, out.size()); !status) {
    return status;
  }
  if (Status status = reference.check(); !status) {
    return status;
  }
  const std::size_t width = config.features.size();
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = static_cast<float>(reference.score(features.subspan(c * width, width)));
  }
  return check_decision_answer(config, out);
}

Status reference_logits(const DecisionConfig& config, const DecisionWeights& weights,
                        std::span<const TokenId> window, std::span<float> out) {
  const Reference reference(config, weights);
  const auto newest = check_decision_window(config, window, out.size());
  if (!newest) {
    return newest.error();
  }
  if (Status status = reference.check(); !status) {
    return status;
  }
  const Vector logits = config.kind == DecisionKind::WindowedMlp ? reference.windowed_mlp(*newest)
                                                                 : reference.transformer(*newest);
  std::ranges::transform(logits, out.begin(), [](double x) { return static_cast<float>(x); });
  return check_decision_answer(config, out);
}

Result<DecisionWeights> load_decision_weights(const format::ModelFile& file,
                                              const DecisionConfig& config) {
  DecisionWeights weights;
  for (const DecisionTensor& tensor : decision_tensors(config)) {
    const auto view = find_weights(file, tensor.name, tensor.shape);
    if (!view) {
      return view.error();
    }
    std::vector<float>& numbers = weights.emplace_back(tensor.size());
    if (Status status = tensor_to_floats(*view, numbers); !status) {
      return corrupt_tensor(file, tensor.name, "cannot be used: " + status.error().message);
    }
    if (!simd::all_finite(simd::best_kernels(), numbers)) {
      return corrupt_tensor(file, tensor.name, "holds a NaN or an infinity");
    }
  }
  return weights;
}

}  // namespace laya::model

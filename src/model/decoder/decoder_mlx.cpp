// A decoder through MLX in fp32: for GPUs, and a second opinion on every CPU. Keys and values live
// in the session's KvCache, as in every backend, and are rounded by its storage; a pass reads those
// it attends to once a layer. The order of the pass is that of decoder_reference.cpp.
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

#include "model/decoder/decoder_backends.h"
#include "model/decoder/decoder_checks.h"
#include "model/decoder/decoder_rope.h"
#include "model/gru/call_checks.h"
#include "simd/dispatch.h"
#include "simd/kv_attention.h"

namespace laya::model {
namespace {

namespace mx = mlx::core;
using Layer = DecoderWeights<FloatMatrix>::Layer;

mx::array to_array(std::span<const float> data, mx::Shape shape) {
  return mx::array(data.data(), std::move(shape), mx::float32);
}

mx::array matrix_array(const FloatMatrix& matrix) {
  return to_array(matrix.data, {static_cast<int>(matrix.rows), static_cast<int>(matrix.columns)});
}

/// None where the configuration has no such vector.
std::optional<mx::array> vector_array(std::span<const float> data) {
  if (data.empty()) {
    return std::nullopt;
  }
  return to_array(data, {static_cast<int>(data.size())});
}

/// x [n, columns] → [n, rows].
mx::array project(const mx::array& x, const mx::array& weights,
                  const std::optional<mx::array>& bias = std::nullopt) {
  const mx::array y = mx::matmul(x, mx::transpose(weights));
  return bias ? y + *bias : y;
}

mx::array rms_norm(const mx::array& x, const mx::array& weight, float eps) {
  return x * mx::rsqrt(mx::mean(mx::square(x), -1, true) + mx::array(eps)) * weight;
}

mx::array activate(Activation activation, const mx::array& x) {
  if (activation == Activation::SiLU) {
    return x * mx::sigmoid(x);
  }
  // (1 + tanh(y)) / 2 = sigmoid(2y); 2 sqrt(2 / pi).
  return x * mx::sigmoid(mx::array(1.5957691216F) * (x + mx::array(0.044715F) * x * x * x));
}

bool all_finite(std::span<const float> x) {
  return std::ranges::all_of(x, [](float value) { return std::isfinite(value); });
}

std::span<const float> numbers_of(const mx::array& evaluated) {
  return {evaluated.data<float>(), evaluated.size()};
}

struct MlxLayer {
  mx::array attn_norm, q, k, v;
  std::optional<mx::array> q_bias, k_bias, v_bias, q_norm, k_norm;
  mx::array o;
  std::optional<mx::array> attn_post_norm;
  mx::array ffn_norm, gate, up, down;
  std::optional<mx::array> ffn_post_norm;
};

MlxLayer to_layer(const Layer& layer) {
  return {*vector_array(layer.attn_norm),
          matrix_array(layer.q),
          matrix_array(layer.k),
          matrix_array(layer.v),
          vector_array(layer.q_bias),
          vector_array(layer.k_bias),
          vector_array(layer.v_bias),
          vector_array(layer.q_norm),
          vector_array(layer.k_norm),
          matrix_array(layer.o),
          vector_array(layer.attn_post_norm),
          *vector_array(layer.ffn_norm),
          matrix_array(layer.gate),
          matrix_array(layer.up),
          matrix_array(layer.down),
          vector_array(layer.ffn_post_norm)};
}

/// Rotation angles of a pass's tokens, [n, 1, head_dim / 2].
struct Angles {
  mx::array cosines, sines;
};

/// What the tokens of a pass attend to in layers of one kind: the slots of all of them, each once,
/// and for each token (row) 0 where it sees a slot and −infinity where not, [1, n, 1, slots].
struct Context {
  std::vector<std::uint32_t> slots;
  mx::array mask;
};

struct MlxDecoderWorkspace final : Workspace {};

class MlxDecoder final : public Decoder {
 public:
  /// Throws what MLX throws.
  MlxDecoder(const DecoderConfig& config, const DecoderWeights<FloatMatrix>& weights)
      : config_(config),
        rope_(config),
        embedding_(matrix_array(weights.embedding)),
        head_(weights.head.data.data() == weights.embedding.data.data()
                  ? embedding_
                  : matrix_array(weights.head)),
        final_norm_(*vector_array(weights.final_norm)) {
    for (const Layer& layer : weights.layers) {
      layers_.push_back(to_layer(layer));
    }
  }

  const DecoderConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return "mlx"; }
  std::size_t weights_bytes() const override { return config_.parameter_count() * sizeof(float); }
  std::unique_ptr<Workspace> make_workspace(Threads) const override {
    return std::make_unique<MlxDecoderWorkspace>();
  }

  Status logits(Workspace&, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, config_.vocabulary_size, out);
        !status) {
      return status;
    }
    return guarded([&] { return fetch_scores(scores(hidden, columns, head_), out); });
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
      return fetch_scores(scores(hidden, columns, mx::take(head_, chosen, 0)), out);
    });
  }

  Status log_normalizers(Workspace&, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
      return status;
    }
    return guarded(
        [&] { return fetch_scores(mx::logsumexp(scores(hidden, columns, head_), -1), out); });
  }

 private:
  /// MLX's exceptions stop here.
  template <typename Call>
  Status guarded(Call&& call) const {
    const std::scoped_lock lock(mutex_);
    try {
      return call();
    } catch (const std::exception& error) {
      return Error{ErrorCode::Internal, std::string("mlx decoder: ") + error.what()};
    }
  }

  mx::array scores(std::span<const float> hidden, std::size_t columns,
                   const mx::array& rows) const {
    const mx::array y = project(
        to_array(hidden, {static_cast<int>(columns), static_cast<int>(config_.hidden_dim)}), rows);
    const float cap = config_.logit_soft_cap;
    return cap > 0 ? mx::array(cap) * mx::tanh(y / mx::array(cap)) : y;
  }

  static Status fetch_scores(const mx::array& lazy, std::span<float> out) {
    mx::array scores = mx::contiguous(lazy);
    scores.eval();
    std::ranges::copy(numbers_of(scores), out.begin());
    if (!all_finite(out)) {
      std::ranges::fill(out, 0.0F);
      return not_finite("the scores");
    }
    return {};
  }

  Status forward(Workspace&, KvCache& cache, Pass pass, std::span<const Column> columns,
                 std::span<float> hidden, const base::CancelFlag* cancel) const override {
    return guarded([&] { return run(cache, pass, columns, hidden, cancel); });
  }

  Status run(KvCache& cache, Pass pass, std::span<const Column> columns, std::span<float> hidden,
             const base::CancelFlag* cancel) const {
    const int n = static_cast<int>(columns.size());
    std::vector<std::size_t> positions, slots;
    std::vector<TokenId> tokens;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const KvNodeId node = node_of(cache, columns.size(), c);
      positions.push_back(cache.length() + (pass == Pass::Main ? c : cache.depth(node) - 1));
      slots.push_back(pass == Pass::Main ? cache.slot_of_position(positions.back())
                                         : cache.slot_of_node(node));
      tokens.push_back(columns[c].token);
    }
    const Context context[] = {context_of(cache, pass, positions, 0),
                               context_of(cache, pass, positions, config_.sliding_window)};
    const Angles angles[] = {angles_of(positions, false), angles_of(positions, true)};

    mx::array x = mx::take(embedding_, mx::array(tokens.data(), {n}, mx::uint32), 0) *
                  mx::array(config_.embedding_scale);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (cancel != nullptr && cancel->cancelled()) {
        return Error{ErrorCode::Cancelled, "decoder: cancelled"};
      }
      const MlxLayer& layer = layers_[l];
      const bool slides = config_.slides(l);
      const mx::array u = rms_norm(x, layer.attn_norm, config_.norm_eps);
      const mx::array q =
          heads(project(u, layer.q, layer.q_bias), config_.heads, layer.q_norm, angles[slides]);
      mx::array k = mx::contiguous(
          heads(project(u, layer.k, layer.k_bias), config_.kv_heads, layer.k_norm, angles[slides]));
      mx::array v = mx::contiguous(project(u, layer.v, layer.v_bias));
      mx::eval(k, v);
      if (!all_finite(numbers_of(k)) || !all_finite(numbers_of(v))) {
        return not_finite("keys and values");
      }
      store(cache.keys(l), slots, numbers_of(k));
      store(cache.values(l), slots, numbers_of(v));
      x = x +
          with_norm(project(attend(q, cache, l, context[slides]), layer.o), layer.attn_post_norm);
      const mx::array w = rms_norm(x, layer.ffn_norm, config_.norm_eps);
      const mx::array gated =
          activate(config_.activation, project(w, layer.gate)) * project(w, layer.up);
      x = x + with_norm(project(gated, layer.down), layer.ffn_post_norm);
    }
    x = mx::contiguous(rms_norm(x, final_norm_, config_.norm_eps));
    x.eval();
    if (!all_finite(numbers_of(x))) {
      return not_finite("the residual stream");
    }
    std::ranges::copy(numbers_of(x).last(hidden.size()), hidden.begin());
    return {};
  }

  static KvNodeId node_of(const KvCache& cache, std::size_t n, std::size_t column) {
    return static_cast<KvNodeId>(cache.node_count() - n + column);
  }

  Context context_of(const KvCache& cache, Pass pass, std::span<const std::size_t> positions,
                     std::size_t window) const {
    constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> place(cache.slots(), kAbsent), list(cache.slots()), all;
    std::vector<std::vector<std::uint32_t>> seen;  // by token, places in `all`
    for (std::size_t c = 0; c < positions.size(); ++c) {
      const std::size_t count =
          pass == Pass::Main
              ? cache.context_of_position(positions[c], window, list)
              : cache.context_of_node(node_of(cache, positions.size(), c), window, list);
      seen.emplace_back();
      for (const std::uint32_t slot : std::span(list).first(count)) {
        if (place[slot] == kAbsent) {
          place[slot] = static_cast<std::uint32_t>(all.size());
          all.push_back(slot);
        }
        seen.back().push_back(place[slot]);
      }
    }
    std::vector<float> mask(positions.size() * all.size(), -std::numeric_limits<float>::infinity());
    for (std::size_t c = 0; c < seen.size(); ++c) {
      for (const std::uint32_t at : seen[c]) {
        mask[c * all.size() + at] = 0;
      }
    }
    const int n = static_cast<int>(positions.size()), width = static_cast<int>(all.size());
    return {std::move(all), to_array(mask, {1, n, 1, width})};
  }

  Angles angles_of(std::span<const std::size_t> positions, bool sliding) const {
    const std::size_t half = config_.head_dim / 2;
    std::vector<float> cosines(positions.size() * half), sines(cosines.size());
    for (std::size_t c = 0; c < positions.size(); ++c) {
      rope_.angles(positions[c], sliding, std::span(cosines).subspan(c * half, half),
                   std::span(sines).subspan(c * half, half));
    }
    const mx::Shape shape = {static_cast<int>(positions.size()), 1, static_cast<int>(half)};
    return {to_array(cosines, shape), to_array(sines, shape)};
  }

  /// [n, heads * hd] → [n, heads, hd], normed where the family does that, rotated.
  mx::array heads(const mx::array& flat, std::uint32_t count, const std::optional<mx::array>& norm,
                  const Angles& angles) const {
    const int hd = static_cast<int>(config_.head_dim);
    const mx::array split = mx::reshape(flat, {flat.shape(0), static_cast<int>(count), hd});
    const mx::array x = norm ? rms_norm(split, *norm, config_.norm_eps) : split;
    const std::vector<mx::array> halves = mx::split(x, 2, -1);
    return mx::concatenate({halves[0] * angles.cosines - halves[1] * angles.sines,
                            halves[1] * angles.cosines + halves[0] * angles.sines},
                           -1);
  }

  mx::array with_norm(const mx::array& y, const std::optional<mx::array>& norm) const {
    return norm ? rms_norm(y, *norm, config_.norm_eps) : y;
  }

  /// `rows` is [n, kv_heads * hd].
  void store(const simd::KvPlane& plane, std::span<const std::size_t> slots,
             std::span<const float> rows) const {
    for (std::size_t c = 0; c < slots.size(); ++c) {
      simd::store_kv(kernels_, plane, slots[c],
                     rows.subspan(c * config_.kv_dim(), config_.kv_dim()));
    }
  }

  /// The context's keys or values, [kv_heads, 1, slots, hd].
  mx::array load(const simd::KvPlane& plane, std::span<const std::uint32_t> slots) const {
    const std::size_t hd = config_.head_dim;
    std::vector<float> rows(plane.kv_heads * slots.size() * hd);
    for (std::size_t h = 0, at = 0; h < plane.kv_heads; ++h) {
      for (const std::uint32_t slot : slots) {
        simd::load_kv(kernels_, plane, h, slot, std::span(rows).subspan(at, hd));
        at += hd;
      }
    }
    return to_array(rows, {static_cast<int>(plane.kv_heads), 1, static_cast<int>(slots.size()),
                           static_cast<int>(hd)});
  }

  /// q [n, heads, hd] → [n, heads * hd].
  mx::array attend(const mx::array& q, const KvCache& cache, std::size_t l,
                   const Context& context) const {
    const int n = q.shape(0), kv = static_cast<int>(config_.kv_heads);
    const int group = static_cast<int>(config_.heads / config_.kv_heads);
    const int hd = static_cast<int>(config_.head_dim);
    // [kv, n, group, hd] against [kv, 1, slots, hd], shared by the n tokens.
    const mx::array query = mx::transpose(mx::reshape(q, {n, kv, group, hd}), {1, 0, 2, 3});
    const mx::array keys = load(cache.keys(l), context.slots);
    const mx::array values = load(cache.values(l), context.slots);
    const mx::array fit =
        mx::matmul(query, mx::transpose(keys, {0, 1, 3, 2})) * mx::array(config_.attention_scale);
    const mx::array share = mx::softmax(fit + context.mask, std::vector<int>{-1});
    const mx::array out = mx::transpose(mx::matmul(share, values), {1, 0, 2, 3});
    return mx::reshape(out, {n, kv * group * hd});
  }

  DecoderConfig config_;
  RopeFrequencies rope_;
  mx::array embedding_, head_, final_norm_;
  std::vector<MlxLayer> layers_;
  const simd::Kernels& kernels_ = simd::best_kernels();
  mutable std::mutex mutex_;  ///< MLX's streams are not for several threads
};

}  // namespace

Result<std::unique_ptr<Decoder>> make_mlx_decoder(const DecoderConfig& config,
                                                  OwnedFloatDecoder weights) {
  try {
    return std::unique_ptr<Decoder>(new MlxDecoder(config, weights.weights));
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string("mlx decoder: ") + error.what()};
  }
}

}  // namespace laya::model

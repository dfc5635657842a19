#include "model/gru/gru_cpu_backend.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/core/aligned_bytes.h"
#include "model/core/columns.h"
#include "model/gru/call_checks.h"
#include "simd/activations.h"
#include "simd/ops.h"
#include "simd/thread_pool.h"

namespace laya::model {
namespace {

using simd::Activations;
using simd::MatmulJob;
using PackedWeights = GruWeights<simd::PackedMatrix>;

struct CpuWorkspace final : Workspace {
  CpuWorkspace(const GruConfig& config, Threads threads)
      : embedded(config.embedding_dim),
        x(config.hidden_dim),
        normed(config.hidden_dim),
        gi(3 * std::size_t{config.hidden_dim}),
        qkv(3 * config.attention_dim()),
        heads(config.attention_dim()),
        update(config.hidden_dim),
        y(config.embedding_dim),
        logits(config.vocabulary_size),
        embedded_codes(config.embedding_dim, kMaxColumns),
        normed_codes(config.hidden_dim, kMaxColumns),
        heads_codes(config.attention_dim(), kMaxColumns),
        y_codes(config.embedding_dim, kMaxColumns),
        before(config) {
    for (std::size_t layer = 0; layer < config.layers; ++layer) {
      sequence_qkv.emplace_back(3 * config.attention_dim());
      h.emplace_back(config.hidden_dim);
      gh.emplace_back(3 * std::size_t{config.hidden_dim});
      h_codes.emplace_back(config.hidden_dim, kMaxColumns);
    }
    jobs.reserve(std::size_t{config.layers} + 1);
    if (threads == Threads::Two) {
      pool = std::make_unique<simd::ThreadPool>(2);
    }
  }

  Columns embedded, x, normed, gi, qkv, heads, update, y, logits;
  std::vector<Columns> h, gh;  // by layer; h waits here until all columns are known to be finite
  Activations embedded_codes, normed_codes, heads_codes, y_codes;
  std::vector<Activations> h_codes;
  State before;                       // what read() goes back to
  std::vector<Columns> sequence_qkv;  // by layer: of read()
  std::vector<MatmulJob> jobs;
  std::unique_ptr<simd::ThreadPool> pool;  // null: everything on the calling thread
};

class CpuModel final : public LanguageModel {
 public:
  CpuModel(const GruConfig& config, OwnedPackedWeights owned, const simd::Kernels& kernels)
      : config_(config),
        owned_(std::move(owned)),
        weights_(owned_.weights),
        kernels_(kernels),
        name_(std::string("cpu ") + kernels.name) {}

  const GruConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return name_; }

  std::size_t weights_bytes() const override {
    std::size_t bytes = bytes_of(weights_.embedding) + bytes_of(weights_.in_proj) +
                        bytes_of(weights_.out_proj) + weights_.out_bias.size_bytes() +
                        weights_.final_norm.size_bytes();
    for (const auto& layer : weights_.layers) {
      bytes += bytes_of(layer.w_ih) + bytes_of(layer.w_hh) + bytes_of(layer.w_qkv) +
               bytes_of(layer.w_o) + layer.gru_norm.size_bytes() + layer.b_ih.size_bytes() +
               layer.b_hh.size_bytes() + layer.attn_norm.size_bytes() + layer.rel_bias.size_bytes();
    }
    return bytes;
  }

  std::unique_ptr<Workspace> make_workspace(Threads threads) const override {
    return std::make_unique<CpuWorkspace>(config_, threads);
  }

  using LanguageModel::advance;
  Status advance(Workspace& workspace, std::span<State* const> states,
                 std::span<const TokenId> tokens, std::span<float> hidden) const override {
    if (auto status = check_advance(config_, states, tokens, hidden); !status) {
      return status;
    }
    auto& ws = static_cast<CpuWorkspace&>(workspace);
    const char* damaged = step(ws, states, tokens);
    if (damaged != nullptr) {
      discard(states);
      return not_finite(damaged);
    }
    const std::size_t n = states.size();
    for (std::size_t i = 0; i < n; ++i) {
      settle(ws, i, *states[i], states[i]->position() + 1);
    }
    if (!hidden.empty()) {
      std::ranges::copy(ws.y.all(n), hidden.begin());
    }
    return {};
  }

  Status read(Workspace& workspace, State& state, std::span<const TokenId> tokens,
              std::span<State> after) const override {
    if (auto status = check_read(config_, state, tokens, after); !status) {
      return status;
    }
    auto& ws = static_cast<CpuWorkspace&>(workspace);
    if (auto copied = ws.before.copy_from(state); !copied) {
      return copied;
    }
    if (const char* damaged = read_sequence(ws, state, tokens); damaged != nullptr) {
      [[maybe_unused]] const Status back = state.copy_from(ws.before);  // of the same config
      return not_finite(damaged);
    }
    for (std::size_t t = 0; t < after.size(); ++t) {
      State& behind = after[t];
      if (auto copied = behind.copy_from(t == 0 ? ws.before : after[t - 1]); !copied) {
        return copied;
      }
      const std::uint64_t now = behind.position();
      for (std::size_t l = 0; l < config_.layers; ++l) {
        keep_pair(ws.sequence_qkv[l][t], behind, l, now);
      }
      settle(ws, t, behind, now + 1);
    }
    settle(ws, tokens.size() - 1, state, ws.before.position() + tokens.size());
    return {};
  }

  Status logits(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, config_.vocabulary_size, out);
        !status) {
      return status;
    }
    if (!finite(hidden)) {
      return not_finite("the output vector");  // int8 codes would hide it
    }
    auto& ws = static_cast<CpuWorkspace&>(workspace);
    prepare(ws.y_codes, hidden, columns, weights_.embedding);
    ws.jobs.assign(1, MatmulJob{&weights_.embedding, &ws.y_codes, weights_.out_bias, out,
                                config_.vocabulary_size});
    multiply(ws);
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
    if (rows.empty()) {
      return {};
    }
    if (!finite(hidden)) {
      return not_finite("the output vector");  // int8 codes would hide it
    }
    auto& ws = static_cast<CpuWorkspace&>(workspace);
    prepare(ws.y_codes, hidden, columns, weights_.embedding);
    simd::matmul_rows(
        kernels_, {&weights_.embedding, &ws.y_codes, weights_.out_bias, out, rows.size()}, rows);
    return finite_scores(out);
  }

  Status log_normalizers(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
      return status;
    }
    auto& ws = static_cast<CpuWorkspace&>(workspace);
    if (auto status = logits(workspace, hidden, columns, ws.logits.all(columns)); !status) {
      return status;
    }
    for (std::size_t i = 0; i < columns; ++i) {
      out[i] = simd::log_sum_exp(kernels_, ws.logits[i]);
    }
    return {};
  }

 private:
  static std::size_t bytes_of(const simd::PackedMatrix& matrix) {
    return matrix.blocks * matrix.block_bytes;
  }

  /// x [n, columns of `matrix`] as that matrix wants it: int8 in its groups, or left fp32.
  void prepare(Activations& codes, std::span<const float> x, std::size_t n,
               const simd::PackedMatrix& matrix) const {
    codes.set(kernels_, x, matrix.cols, n, matrix.cols, matrix.group);
  }

  /// Runs ws.jobs.
  void multiply(CpuWorkspace& ws) const {
    if (ws.pool != nullptr) {
      simd::matmul(kernels_, *ws.pool, ws.jobs);
      return;
    }
    for (const MatmulJob& job : ws.jobs) {
      simd::matmul(kernels_, job);
    }
  }

  void multiply(CpuWorkspace& ws, const simd::PackedMatrix& matrix, const Activations& x,
                std::span<const float> bias, Columns& out, std::size_t n) const {
    ws.jobs.assign(1, MatmulJob{&matrix, &x, bias, out.all(n), out.length()});
    multiply(ws);
  }

  /// Computes all columns. New h and y are left in the workspace, new keys and values in the
  /// states' spare ring slots. Returns null, or the name of the first stage with a NaN or an
  /// infinity. Each stage is looked at before it is quantised for the next product: int8 codes
  /// would hide it.
  const char* step(CpuWorkspace& ws, std::span<State* const> states,
                   std::span<const TokenId> tokens) const {
    const std::size_t n = states.size();
    // The recurrent products of all layers need only the old states: they join the first product in
    // one parallel region.
    ws.jobs.clear();
    for (std::size_t i = 0; i < n; ++i) {
      simd::dequantize_row(kernels_, weights_.embedding, tokens[i], ws.embedded[i]);
    }
    prepare(ws.embedded_codes, ws.embedded.all(n), n, weights_.in_proj);
    ws.jobs.push_back({&weights_.in_proj, &ws.embedded_codes, {}, ws.x.all(n), ws.x.length()});
    for (std::size_t l = 0; l < config_.layers; ++l) {
      const auto& layer = weights_.layers[l];
      for (std::size_t i = 0; i < n; ++i) {
        std::ranges::copy(std::as_const(*states[i]).hidden(l), ws.h[l][i].begin());
      }
      prepare(ws.h_codes[l], ws.h[l].all(n), n, layer.w_hh);
      ws.jobs.push_back(
          {&layer.w_hh, &ws.h_codes[l], layer.b_hh, ws.gh[l].all(n), ws.gh[l].length()});
    }
    multiply(ws);

    for (std::size_t l = 0; l < config_.layers; ++l) {
      const auto& layer = weights_.layers[l];
      if (!norm(ws, layer.gru_norm, n)) {
        return "the input of a GRU";
      }
      prepare(ws.normed_codes, ws.normed.all(n), n, layer.w_ih);
      multiply(ws, layer.w_ih, ws.normed_codes, layer.b_ih, ws.gi, n);
      for (std::size_t i = 0; i < n; ++i) {
        simd::gru_gates(kernels_, ws.gi[i], ws.gh[l][i], ws.h[l][i], ws.h[l][i]);
        simd::add(kernels_, ws.h[l][i], ws.x[i]);
      }
      if (!finite(ws.h[l].all(n))) {
        return "a GRU state";
      }
      if (!norm(ws, layer.attn_norm, n)) {
        return "the input of attention";
      }
      prepare(ws.normed_codes, ws.normed.all(n), n, layer.w_qkv);
      multiply(ws, layer.w_qkv, ws.normed_codes, {}, ws.qkv, n);
      for (std::size_t i = 0; i < n; ++i) {
        attend(ws.qkv[i], layer, *states[i], l, states[i]->position(), ws.heads[i]);
      }
      if (!finite(ws.qkv.all(n)) || !finite(ws.heads.all(n))) {
        return "attention";
      }
      prepare(ws.heads_codes, ws.heads.all(n), n, layer.w_o);
      multiply(ws, layer.w_o, ws.heads_codes, {}, ws.update, n);
      simd::add(kernels_, ws.update.all(n), ws.x.all(n));
    }
    if (!finite(ws.x.all(n)) || !norm(ws, weights_.final_norm, n)) {
      return "the residual stream";
    }
    prepare(ws.normed_codes, ws.normed.all(n), n, weights_.out_proj);
    multiply(ws, weights_.out_proj, ws.normed_codes, {}, ws.y, n);
    return finite(ws.y.all(n)) ? nullptr : "the output vector";
  }

  /// Column `i` becomes what `state` holds of its newest token.
  void settle(CpuWorkspace& ws, std::size_t i, State& state, std::uint64_t position) const {
    for (std::size_t l = 0; l < config_.layers; ++l) {
      std::ranges::copy(ws.h[l][i], state.hidden(l).begin());
    }
    std::ranges::copy(ws.y[i], state.mutable_output().begin());
    state.set_position(position);
  }

  /// The tokens of one sequence, layer by layer: all products but the recurrent one read their
  /// weights once for the whole sequence. h and y of every token are left in the workspace, keys and
  /// values in `state`. Returns as step() does.
  const char* read_sequence(CpuWorkspace& ws, State& state, std::span<const TokenId> tokens) const {
    const std::size_t n = tokens.size();
    const std::uint64_t first = state.position();
    for (std::size_t t = 0; t < n; ++t) {
      simd::dequantize_row(kernels_, weights_.embedding, tokens[t], ws.embedded[t]);
    }
    prepare(ws.embedded_codes, ws.embedded.all(n), n, weights_.in_proj);
    multiply(ws, weights_.in_proj, ws.embedded_codes, {}, ws.x, n);
    for (std::size_t l = 0; l < config_.layers; ++l) {
      const auto& layer = weights_.layers[l];
      if (!norm(ws, layer.gru_norm, n)) {
        return "the input of a GRU";
      }
      prepare(ws.normed_codes, ws.normed.all(n), n, layer.w_ih);
      multiply(ws, layer.w_ih, ws.normed_codes, layer.b_ih, ws.gi, n);
      std::span<const float> h = std::as_const(state).hidden(l);
      for (std::size_t t = 0; t < n; ++t) {
        prepare(ws.h_codes[l], h, 1, layer.w_hh);
        multiply(ws, layer.w_hh, ws.h_codes[l], layer.b_hh, ws.gh[l], 1);
        simd::gru_gates(kernels_, ws.gi[t], ws.gh[l][0], h, ws.h[l][t]);
        h = ws.h[l][t];
        simd::add(kernels_, h, ws.x[t]);
      }
      if (!finite(ws.h[l].all(n))) {
        return "a GRU state";
      }
      if (!norm(ws, layer.attn_norm, n)) {
        return "the input of attention";
      }
      Columns& qkv = ws.sequence_qkv[l];
      prepare(ws.normed_codes, ws.normed.all(n), n, layer.w_qkv);
      multiply(ws, layer.w_qkv, ws.normed_codes, {}, qkv, n);
      for (std::size_t t = 0; t < n; ++t) {
        attend(qkv[t], layer, state, l, first + t, ws.heads[t]);
      }
      if (!finite(qkv.all(n)) || !finite(ws.heads.all(n))) {
        return "attention";
      }
      prepare(ws.heads_codes, ws.heads.all(n), n, layer.w_o);
      multiply(ws, layer.w_o, ws.heads_codes, {}, ws.update, n);
      simd::add(kernels_, ws.update.all(n), ws.x.all(n));
    }
    if (!finite(ws.x.all(n)) || !norm(ws, weights_.final_norm, n)) {
      return "the residual stream";
    }
    prepare(ws.normed_codes, ws.normed.all(n), n, weights_.out_proj);
    multiply(ws, weights_.out_proj, ws.normed_codes, {}, ws.y, n);
    return finite(ws.y.all(n)) ? nullptr : "the output vector";
  }

  /// False where the result is not finite.
  bool norm(CpuWorkspace& ws, std::span<const float> weight, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) {
      simd::rms_norm(kernels_, ws.x[i], weight, config_.norm_eps, ws.normed[i]);
    }
    return finite(ws.normed.all(n));
  }

  void keep_pair(std::span<const float> qkv, State& state, std::size_t l, std::uint64_t now) const {
    const std::size_t a = config_.attention_dim();
    std::ranges::copy(qkv.subspan(a, a), state.key(l, now).begin());
    std::ranges::copy(qkv.subspan(2 * a, a), state.value(l, now).begin());
  }

  /// Attention of the token with number `now`, whose key and value take their places in `state`.
  void attend(std::span<const float> qkv, const PackedWeights::Layer& layer, State& state,
              std::size_t l, std::uint64_t now, std::span<float> out) const {
    keep_pair(qkv, state, l, now);
    simd::WindowAttentionArgs args;
    args.heads = config_.heads;
    args.head_dim = config_.head_dim;
    args.window = config_.window;
    args.newest = static_cast<std::size_t>(now % config_.window);
    args.count = static_cast<std::size_t>(std::min<std::uint64_t>(now + 1, config_.window));
    args.query = qkv.data();
    args.keys = state.keys(l).data();
    args.values = state.values(l).data();
    args.relative_bias = layer.rel_bias.data();
    args.out = out.data();
    simd::window_attention(kernels_, args);
  }

  /// A failed step leaves nothing in the spare slots that a later copy or save could carry on.
  void discard(std::span<State* const> states) const {
    for (State* state : states) {
      for (std::size_t l = 0; l < config_.layers; ++l) {
        std::ranges::fill(state->key(l, state->position()), 0.0F);
        std::ranges::fill(state->value(l, state->position()), 0.0F);
      }
    }
  }

  bool finite(std::span<const float> x) const { return simd::all_finite(kernels_, x); }

  Status finite_scores(std::span<float> out) const {
    if (finite(out)) {
      return {};
    }
    std::ranges::fill(out, 0.0F);
    return not_finite("the scores");
  }

  GruConfig config_;
  OwnedPackedWeights owned_;
  const PackedWeights& weights_;
  const simd::Kernels& kernels_;
  std::string name_;
};

}  // namespace

std::unique_ptr<LanguageModel> make_cpu_model(const GruConfig& config, OwnedPackedWeights weights,
                                              const simd::Kernels& kernels) {
  return std::make_unique<CpuModel>(config, std::move(weights), kernels);
}

}  // namespace laya::model

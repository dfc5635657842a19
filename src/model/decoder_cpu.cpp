// What ships: packed weights through src/simd, up to 16 columns a pass. The order of the pass is
// that of decoder_reference.cpp, which is the specification.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model/aligned_bytes.h"
#include "model/call_checks.h"
#include "model/decoder_backends.h"
#include "model/decoder_checks.h"
#include "model/decoder_rope.h"
#include "simd/activations.h"
#include "simd/kv_attention.h"
#include "simd/ops.h"
#include "simd/thread_pool.h"

namespace laya::model {
namespace {

using simd::Activations;
using simd::MatmulJob;
using simd::PackedMatrix;
using Layer = DecoderWeights<PackedMatrix>::Layer;

// Bytes of weights in one unit of shared work: about 1 us from memory, what one thread may have to
// wait for the other at the end.
constexpr std::size_t kUnitBytes = 32 * 1024;

// Rows of the head computed at once, for all columns: 16 x 1024 scores stay in the L2 cache.
constexpr std::size_t kHeadRows = 1024;

// Multiplications of attention below which a second thread costs more than it gives.
constexpr std::size_t kWorthSharingProducts = 128 * 1024;

std::size_t bytes_of(const PackedMatrix& matrix) { return matrix.blocks * matrix.block_bytes; }

/// Blocks [first, last) of a matrix, as a matrix.
PackedMatrix blocks_of(const PackedMatrix& matrix, std::size_t first, std::size_t last) {
  PackedMatrix part = matrix;
  part.data += first * matrix.block_bytes;
  part.blocks = last - first;
  part.rows = std::min(matrix.rows - first * simd::kBlockRows, part.blocks * simd::kBlockRows);
  return part;
}

/// Vectors of up to kMaxColumns columns, [column][length].
class Columns {
 public:
  explicit Columns(std::size_t length)
      : length_(length), memory_(kMaxColumns * length * sizeof(float)) {}

  std::size_t length() const { return length_; }
  std::span<float> all(std::size_t columns) { return memory_.floats().first(columns * length_); }
  std::span<float> operator[](std::size_t column) {
    return memory_.floats().subspan(column * length_, length_);
  }

 private:
  std::size_t length_;
  AlignedBytes memory_;
};

/// One vector a column, quantised for every group that a matrix which reads it may have.
class Inputs {
 public:
  explicit Inputs(std::size_t length) {
    for (std::unique_ptr<Activations>& codes : by_group_) {
      codes = std::make_unique<Activations>(length, kMaxColumns);
    }
  }

  /// New numbers, [columns][length], which stay unchanged until the last product.
  void set(std::span<const float> x, std::size_t length, std::size_t columns) {
    x_ = x;
    length_ = length;
    columns_ = columns;
    ready_ = {};
  }
  /// As `matrix` wants them.
  const Activations& of(const simd::Kernels& kernels, const PackedMatrix& matrix) {
    const std::size_t at = matrix.group == 32 ? 1 : matrix.group == 64 ? 2 : matrix.group / 128 * 3;
    if (!ready_[at]) {
      by_group_[at]->set(kernels, x_, length_, columns_, length_, matrix.group);
      ready_[at] = true;
    }
    return *by_group_[at];
  }

 private:
  std::span<const float> x_;
  std::size_t length_ = 0, columns_ = 0;
  std::array<std::unique_ptr<Activations>, 4> by_group_;  // groups 0 (not quantised), 32, 64, 128
  std::array<bool, 4> ready_{};
};

struct CpuDecoderWorkspace final : Workspace {
  CpuDecoderWorkspace(const DecoderConfig& c, Threads threads)
      : x(c.hidden_dim),
        u(c.hidden_dim),
        q(c.q_dim()),
        k(c.kv_dim()),
        v(c.kv_dim()),
        heads(c.q_dim()),
        y(c.hidden_dim),
        gate(c.ffn_dim),
        up(c.ffn_dim),
        scores(2 * kHeadRows),
        cosines{Columns(c.head_dim / 2), Columns(c.head_dim / 2)},
        sines{Columns(c.head_dim / 2), Columns(c.head_dim / 2)},
        x_codes(c.hidden_dim),
        heads_codes(c.q_dim()),
        gate_codes(c.ffn_dim),
        partial(kMaxColumns * ((c.vocabulary_size + kHeadRows - 1) / kHeadRows)) {
    jobs.reserve(3);
    if (threads == Threads::Two) {
      pool = std::make_unique<simd::ThreadPool>(2);
    }
  }

  Columns x, u, q, k, v, heads, y, gate, up, scores;
  std::array<Columns, 2> cosines, sines;  // of layers that do not slide, that slide
  Inputs x_codes, heads_codes, gate_codes;
  std::vector<MatmulJob> jobs;
  std::vector<float> partial;  // log-sums of the head's chunks, [column][chunk]

  // Of the pass at hand, by column.
  struct Token {
    std::size_t slot = 0;
    std::size_t context = 0;  // length of its list in `slots`
  };
  std::array<Token, kMaxColumns> tokens;
  std::vector<std::uint32_t> slots;  // [column][slots of the cache]: what each attends to
  std::vector<float> scratch;        // of attention, a part for each share of work

  std::unique_ptr<simd::ThreadPool> pool;  // null: everything on the calling thread
};

class CpuDecoder final : public Decoder {
 public:
  CpuDecoder(const DecoderConfig& config, OwnedPackedDecoder owned, const simd::Kernels& kernels)
      : config_(config),
        owned_(std::move(owned)),
        weights_(owned_.weights),
        kernels_(kernels),
        rope_(config),
        name_(std::string("cpu ") + kernels.name) {}

  const DecoderConfig& config() const override { return config_; }
  std::string_view backend_name() const override { return name_; }

  std::size_t weights_bytes() const override {
    std::size_t bytes = bytes_of(weights_.head) + weights_.final_norm.size_bytes();
    for (const Layer& layer : weights_.layers) {
      for (const PackedMatrix* matrix :
           {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down}) {
        bytes += bytes_of(*matrix);
      }
      for (const std::span<const float> vector :
           {layer.attn_norm, layer.q_bias, layer.k_bias, layer.v_bias, layer.q_norm, layer.k_norm,
            layer.attn_post_norm, layer.ffn_norm, layer.ffn_post_norm}) {
        bytes += vector.size_bytes();
      }
    }
    return bytes;
  }

  std::unique_ptr<Workspace> make_workspace(Threads threads) const override {
    return std::make_unique<CpuDecoderWorkspace>(config_, threads);
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
    auto& ws = static_cast<CpuDecoderWorkspace&>(workspace);
    ws.x_codes.set(hidden, config_.hidden_dim, columns);
    ws.jobs.assign(1, MatmulJob{&weights_.head,
                                &ws.x_codes.of(kernels_, weights_.head),
                                {},
                                out,
                                config_.vocabulary_size});
    multiply(ws);
    soft_cap(out);
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
    auto& ws = static_cast<CpuDecoderWorkspace&>(workspace);
    ws.x_codes.set(hidden, config_.hidden_dim, columns);
    simd::matmul_rows(
        kernels_, {&weights_.head, &ws.x_codes.of(kernels_, weights_.head), {}, out, rows.size()},
        rows);
    soft_cap(out);
    return finite_scores(out);
  }

  Status log_normalizers(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
      return status;
    }
    if (!finite(hidden)) {
      return not_finite("the output vector");  // int8 codes would hide it
    }
    auto& ws = static_cast<CpuDecoderWorkspace&>(workspace);
    const PackedMatrix& head = weights_.head;
    ws.x_codes.set(hidden, config_.hidden_dim, columns);
    const Activations& codes = ws.x_codes.of(kernels_, head);
    // A chunk of rows at a time, so that scores never leave the cache; each chunk's log-sum is the
    // same whoever computes it, and they are joined in order.
    constexpr std::size_t kBlocks = kHeadRows / simd::kBlockRows;
    const std::size_t chunks = (head.blocks + kBlocks - 1) / kBlocks;
    const auto sum_chunk = [&](std::size_t chunk, std::span<float> scores) {
      const std::size_t first = chunk * kBlocks;
      const PackedMatrix part = blocks_of(head, first, std::min(first + kBlocks, head.blocks));
      simd::matmul(kernels_, {&part, &codes, {}, scores, part.rows});
      for (std::size_t c = 0; c < columns; ++c) {
        const std::span<float> column = scores.subspan(c * part.rows, part.rows);
        soft_cap(column);
        ws.partial[c * chunks + chunk] = simd::log_sum_exp(kernels_, column);
      }
    };
    const std::span<float> all = ws.scores.all(kMaxColumns);
    if (ws.pool == nullptr) {
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        sum_chunk(chunk, all.first(columns * kHeadRows));
      }
    } else {
      // Two shares of alternating chunks: a share has scores of its own.
      ws.pool->run(2, [&](std::size_t share) {
        for (std::size_t chunk = share; chunk < chunks; chunk += 2) {
          sum_chunk(chunk, all.subspan(share * kMaxColumns * kHeadRows, columns * kHeadRows));
        }
      });
    }
    for (std::size_t c = 0; c < columns; ++c) {
      out[c] = simd::log_sum_exp(kernels_, std::span(ws.partial).subspan(c * chunks, chunks));
    }
    return finite_scores(out);
  }

 private:
  Status forward(Workspace& workspace, KvCache& cache, Pass pass, std::span<const Column> columns,
                 std::span<float> hidden, const base::CancelFlag* cancel) const override {
    auto& ws = static_cast<CpuDecoderWorkspace&>(workspace);
    const std::size_t n = columns.size();
    prepare(ws, cache, pass, columns);
    for (std::size_t l = 0; l < config_.layers; ++l) {
      if (cancel != nullptr && cancel->cancelled()) {
        return Error{ErrorCode::Cancelled, "decoder: cancelled"};
      }
      // Whatever is about to be quantised is looked at first: int8 codes would hide a NaN.
      const Layer& layer = weights_.layers[l];
      norm_columns(ws, layer.attn_norm, n);
      project(ws, layer, n);
      attend(ws, cache, layer, l, n);
      if (!finite(ws.heads.all(n))) {
        return not_finite("attention");
      }
      ws.heads_codes.set(ws.heads.all(n), ws.heads.length(), n);
      ws.jobs.assign(1, job(layer.o, ws.heads_codes, {}, ws.y, n));
      multiply(ws);
      if (!add_update(ws, layer.attn_post_norm, n)) {
        return not_finite("the residual stream");
      }
      norm_columns(ws, layer.ffn_norm, n);
      feed_forward(ws, layer, n);
      if (!finite(ws.gate.all(n))) {
        return not_finite("the feed-forward layer");
      }
      ws.gate_codes.set(ws.gate.all(n), ws.gate.length(), n);
      ws.jobs.assign(1, job(layer.down, ws.gate_codes, {}, ws.y, n));
      multiply(ws);
      if (!add_update(ws, layer.ffn_post_norm, n)) {
        return not_finite("the residual stream");
      }
    }
    const std::size_t wanted = hidden.size() / config_.hidden_dim;
    for (std::size_t i = 0; i < wanted; ++i) {
      simd::rms_norm(kernels_, ws.x[n - wanted + i], weights_.final_norm, config_.norm_eps,
                     hidden.subspan(i * config_.hidden_dim, config_.hidden_dim));
    }
    return finite(hidden) ? Status{} : not_finite("the output vector");
  }

  /// Where each column's token goes, what it attends to, its angles, and its embedding in x.
  void prepare(CpuDecoderWorkspace& ws, const KvCache& cache, Pass pass,
               std::span<const Column> columns) const {
    const std::size_t n = columns.size();
    if (ws.slots.size() < kMaxColumns * cache.slots()) {
      ws.slots.resize(kMaxColumns * cache.slots());
      ws.scratch.resize(kMaxColumns * simd::kv_attention_scratch(cache.slots()));
    }
    for (std::size_t c = 0; c < n; ++c) {
      const auto node = static_cast<NodeId>(cache.node_count() - n + c);
      const std::span<std::uint32_t> list = context_list(ws, cache, c);
      auto& token = ws.tokens[c];
      std::size_t position = 0;
      if (pass == Pass::Main) {
        position = cache.length() + c;
        token.slot = cache.slot_of_position(position);
        token.context = cache.context_of_position(position, 0, list);
      } else {
        position = cache.length() + cache.depth(node) - 1;
        token.slot = cache.slot_of_node(node);
        token.context = cache.context_of_node(node, 0, list);
      }
      rope_.angles(position, false, ws.cosines[0][c], ws.sines[0][c]);
      if (config_.sliding_window != 0) {
        rope_.angles(position, true, ws.cosines[1][c], ws.sines[1][c]);
      }
      simd::dequantize_row(kernels_, weights_.embedding, columns[c].token, ws.x[c]);
      if (config_.embedding_scale != 1.0F) {
        for (float& value : ws.x[c]) {
          value *= config_.embedding_scale;
        }
      }
    }
  }

  static std::span<std::uint32_t> context_list(CpuDecoderWorkspace& ws, const KvCache& cache,
                                               std::size_t column) {
    return std::span(ws.slots).subspan(column * cache.slots(), cache.slots());
  }

  /// u = norm(x), ready for products.
  void norm_columns(CpuDecoderWorkspace& ws, std::span<const float> weight, std::size_t n) const {
    simd::rms_norm_rows(kernels_, ws.x.all(n), weight, config_.norm_eps, ws.u.all(n));
    ws.x_codes.set(ws.u.all(n), ws.u.length(), n);
  }

  /// q, k, v of u.
  void project(CpuDecoderWorkspace& ws, const Layer& layer, std::size_t n) const {
    ws.jobs.clear();
    ws.jobs.push_back(job(layer.q, ws.x_codes, layer.q_bias, ws.q, n));
    ws.jobs.push_back(job(layer.k, ws.x_codes, layer.k_bias, ws.k, n));
    ws.jobs.push_back(job(layer.v, ws.x_codes, layer.v_bias, ws.v, n));
    multiply(ws);
  }

  /// heads = attention over the cache, to which this pass's keys and values are added.
  void attend(CpuDecoderWorkspace& ws, KvCache& cache, const Layer& layer, std::size_t l,
              std::size_t n) const {
    const bool slides = config_.slides(l);
    const simd::KvPlane keys = cache.keys(l), values = cache.values(l);
    for (std::size_t c = 0; c < n; ++c) {
      if (config_.qk_norm) {
        simd::rms_norm_rows(kernels_, ws.q[c], layer.q_norm, config_.norm_eps, ws.q[c]);
        simd::rms_norm_rows(kernels_, ws.k[c], layer.k_norm, config_.norm_eps, ws.k[c]);
      }
      simd::rope(kernels_, ws.q[c], ws.cosines[slides][c], ws.sines[slides][c]);
      simd::rope(kernels_, ws.k[c], ws.cosines[slides][c], ws.sines[slides][c]);
      simd::store_kv(kernels_, keys, ws.tokens[c].slot, ws.k[c]);
      simd::store_kv(kernels_, values, ws.tokens[c].slot, ws.v[c]);
    }
    std::size_t products = 0;
    for (std::size_t c = 0; c < n; ++c) {
      products += ws.tokens[c].context * config_.q_dim();
    }
    const bool shared = ws.pool != nullptr && products >= kWorthSharingProducts;
    const std::size_t parts = shared && n == 1 && config_.heads > 1 ? 2 : 1;
    const auto one = [&](std::size_t i) {
      const std::size_t c = i / parts, part = i % parts;
      const std::size_t context =
          slides ? std::min<std::size_t>(ws.tokens[c].context, config_.sliding_window)
                 : ws.tokens[c].context;
      simd::KvAttentionArgs args;
      args.keys = keys;
      args.values = values;
      args.heads = config_.heads;
      args.first_head = config_.heads * part / parts;
      args.last_head = config_.heads * (part + 1) / parts;
      args.scale = config_.attention_scale;
      args.slots = context_list(ws, cache, c).data() + (ws.tokens[c].context - context);
      args.count = context;
      args.query = ws.q[c].data();
      args.out = ws.heads[c].data();
      args.scratch = ws.scratch.data() + i * simd::kv_attention_scratch(cache.slots());
      simd::kv_attention(kernels_, args);
    };
    if (shared) {
      ws.pool->run(n * parts, one);
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        one(i);
      }
    }
  }

  /// gate = act(gate u) * up u.
  void feed_forward(CpuDecoderWorkspace& ws, const Layer& layer, std::size_t n) const {
    ws.jobs.clear();
    ws.jobs.push_back(job(layer.gate, ws.x_codes, {}, ws.gate, n));
    ws.jobs.push_back(job(layer.up, ws.x_codes, {}, ws.up, n));
    multiply(ws);
    if (config_.activation == Activation::SiLU) {
      simd::silu_gate(kernels_, ws.gate.all(n), ws.up.all(n), ws.gate.all(n));
    } else {
      simd::gelu_gate(kernels_, ws.gate.all(n), ws.up.all(n), ws.gate.all(n));
    }
  }

  /// x += y, normed where the family does. False where x is not finite any more.
  bool add_update(CpuDecoderWorkspace& ws, std::span<const float> post_norm, std::size_t n) const {
    if (!post_norm.empty()) {
      simd::rms_norm_rows(kernels_, ws.y.all(n), post_norm, config_.norm_eps, ws.y.all(n));
    }
    simd::add(kernels_, ws.y.all(n), ws.x.all(n));
    return finite(ws.x.all(n));
  }

  MatmulJob job(const PackedMatrix& matrix, Inputs& x, std::span<const float> bias, Columns& out,
                std::size_t n) const {
    return {&matrix, &x.of(kernels_, matrix), bias, out.all(n), out.length()};
  }

  /// Runs ws.jobs, in units of about kUnitBytes shared by the threads.
  void multiply(CpuDecoderWorkspace& ws) const {
    if (ws.pool == nullptr) {
      for (const MatmulJob& each : ws.jobs) {
        simd::matmul(kernels_, each);
      }
      return;
    }
    std::size_t units = 0;
    for (const MatmulJob& each : ws.jobs) {
      units += units_of(*each.weights);
    }
    ws.pool->run(units, [&](std::size_t i) {
      for (const MatmulJob& each : ws.jobs) {
        const std::size_t count = units_of(*each.weights);
        if (i < count) {
          run_unit(each, i);
          return;
        }
        i -= count;
      }
    });
  }

  static std::size_t blocks_a_unit(const PackedMatrix& matrix) {
    return std::max<std::size_t>(4, kUnitBytes / matrix.block_bytes);
  }
  static std::size_t units_of(const PackedMatrix& matrix) {
    const std::size_t each = blocks_a_unit(matrix);
    return (matrix.blocks + each - 1) / each;
  }
  void run_unit(const MatmulJob& whole, std::size_t unit) const {
    const std::size_t each = blocks_a_unit(*whole.weights);
    const std::size_t first = unit * each;
    const PackedMatrix part =
        blocks_of(*whole.weights, first, std::min(first + each, whole.weights->blocks));
    const std::size_t row = first * simd::kBlockRows;
    simd::matmul(kernels_, {&part, whole.x,
                            whole.bias.empty() ? whole.bias : whole.bias.subspan(row, part.rows),
                            whole.out.subspan(row), whole.out_stride});
  }

  /// scores = cap * tanh(scores / cap).
  void soft_cap(std::span<float> scores) const {
    const float cap = config_.logit_soft_cap;
    if (cap <= 0) {
      return;
    }
    for (float& score : scores) {
      score /= cap;
    }
    simd::tanh(kernels_, scores, scores);
    for (float& score : scores) {
      score *= cap;
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

  DecoderConfig config_;
  OwnedPackedDecoder owned_;
  const DecoderWeights<PackedMatrix>& weights_;
  const simd::Kernels& kernels_;
  RopeFrequencies rope_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Decoder> make_cpu_decoder(const DecoderConfig& config, OwnedPackedDecoder weights,
                                          const simd::Kernels& kernels) {
  return std::make_unique<CpuDecoder>(config, std::move(weights), kernels);
}

}  // namespace laya::model

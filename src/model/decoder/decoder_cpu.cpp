// What ships: packed weights through src/simd, up to 16 columns a pass. The order of the pass is
// that of decoder_reference.cpp, which is the specification.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/decoder/decoder_backends.h"
#include "model/decoder/decoder_cpu_head.h"
#include "model/decoder/decoder_cpu_workspace.h"
#include "model/decoder/decoder_rope.h"
#include "model/gru/call_checks.h"
#include "simd/kv_attention.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

using simd::Activations;
using simd::PackedMatrix;
using Layer = DecoderWeights<PackedMatrix>::Layer;

// Rows of a weight matrix in one unit of work, for all columns: so many numbers fit on the stack
// and near.
constexpr std::size_t kScratch = 4096;

// The same for heads of q, k or v: 16 columns of the longest head.
constexpr std::size_t kHeadsScratch = kMaxColumns * 256;

// From so many columns on, two threads share columns instead of rows: measured.
constexpr std::size_t kColumnsToSplit = 13;

// Keys and values fetched ahead, at most: half of the smallest second-level cache. The last
// tokens'.
constexpr std::size_t kNearBytes = 128 * 1024;

// Bytes that one prefetch brings.
constexpr std::size_t kLine = 64;

// Multiplications of attention below which a second thread costs more than it gives.
constexpr std::size_t kWorthSharingProducts = 128 * 1024;

/// Numbers of one unit, [column][rows of the unit]: on the stack of whoever computes it.
using Scratch = std::array<float, kScratch>;

/// Sum of squares, the same bits wherever it is computed.
float squares_of(std::span<const float> x) {
  std::array<float, 8> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= x.size(); i += sums.size()) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j] += x[i + j] * x[i + j];
    }
  }
  for (; i < x.size(); ++i) {
    sums[0] += x[i] * x[i];
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

class CpuDecoder final : public Decoder {
 public:
  CpuDecoder(const DecoderConfig& config, OwnedPackedDecoder owned, const simd::Kernels& kernels)
      : config_(config),
        owned_(std::move(owned)),
        weights_(owned_.weights),
        kernels_(kernels),
        rope_(config),
        head_(config_, weights_.head, kernels),
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
    return head_.logits(static_cast<CpuDecoderWorkspace&>(workspace), hidden, columns, out);
  }
  Status logits_rows(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                     std::span<const TokenId> rows, std::span<float> out) const override {
    return head_.logits_rows(static_cast<CpuDecoderWorkspace&>(workspace), hidden, columns, rows,
                             out);
  }
  Status log_normalizers(Workspace& workspace, std::span<const float> hidden, std::size_t columns,
                         std::span<float> out) const override {
    return head_.log_normalizers(static_cast<CpuDecoderWorkspace&>(workspace), hidden, columns,
                                 out);
  }

 private:
  Status forward(Workspace& workspace, KvCache& cache, Pass pass, std::span<const Column> columns,
                 std::span<float> hidden, const base::CancelFlag* cancel) const override {
    auto& ws = static_cast<CpuDecoderWorkspace&>(workspace);
    const std::size_t n = columns.size();
    const auto stopped = [cancel] { return cancel != nullptr && cancel->cancelled(); };
    std::array<Slice, 2> slices;
    const std::size_t count = slice(ws, n, slices);
    const std::span<Slice> used = std::span(slices).first(count);
    const auto cancelled = [] { return Error{ErrorCode::Cancelled, "decoder: cancelled"}; };
    if (stopped()) {
      return cancelled();
    }
    const char* damaged = on_each(ws, used, [&](const Slice& each) {
      prepare(each, cache, pass, columns);
      return project(*each.ws, cache, 0, each.count);
    });
    // Of the last layer nothing but keys and values is remembered.
    const std::size_t layers = hidden.empty() ? config_.layers - 1 : config_.layers;
    for (std::size_t l = 0; l < layers && damaged == nullptr; ++l) {
      if (stopped()) {
        return cancelled();
      }
      damaged = on_each(ws, used, [&](const Slice& each) {
        return finish_layer(*each.ws, cache, l, each.count);
      });
    }
    if (damaged != nullptr) {
      return not_finite(damaged);
    }
    const std::size_t d = config_.hidden_dim, first = n - hidden.size() / d;
    for (const Slice& each : used) {
      for (std::size_t c = 0; c < each.count; ++c) {
        const std::size_t column = each.first + c;
        if (column >= first) {
          simd::rms_norm(kernels_, each.ws->x[c], weights_.final_norm, config_.norm_eps,
                         hidden.subspan((column - first) * d, d));
        }
      }
      if (!finite(each.ws->x.all(each.count))) {
        return not_finite("the residual stream");
      }
    }
    return finite(hidden) ? Status{} : not_finite("the output vector");
  }

  /// Columns [first, first + count) of a pass and whose memory they use.
  struct Slice {
    CpuDecoderWorkspace* ws = nullptr;
    std::size_t first = 0, count = 0;
  };

  /// How a pass of n columns is divided; returns into how many slices. Few columns: one slice, the
  /// threads share its rows. Many: a slice a thread, which then have nothing to tell each other but
  /// keys and values.
  static std::size_t slice(CpuDecoderWorkspace& ws, std::size_t n, std::span<Slice, 2> slices) {
    if (!ws.shares() || n < kColumnsToSplit) {
      slices[0] = {&ws, 0, n};
      return 1;
    }
    slices[0] = {&ws.part(0), 0, (n + 1) / 2};
    slices[1] = {&ws.part(1), slices[0].count, n / 2};
    return 2;
  }

  /// step(slice) for each, side by side where there are two; what the first of them complains of.
  template <typename Step>
  static const char* on_each(CpuDecoderWorkspace& ws, std::span<const Slice> slices, Step&& step) {
    if (slices.size() == 1) {
      return step(slices[0]);
    }
    std::array<const char*, 2> complaints{};
    ws.run(2, [&](std::size_t i) { complaints[i] = step(slices[i]); });
    return complaints[0] != nullptr ? complaints[0] : complaints[1];
  }

  /// The layer from attention on, and q, k, v of the next: until then no column depends on another.
  /// Each product's rows are finished by whoever computed them: added, activated, quantised for the
  /// next product. A norm's weights are applied there too, its factor, which needs all rows, to the
  /// outputs of the next product. Whatever is quantised is looked at before: int8 codes would hide
  /// a NaN. Returns null, or where one was.
  const char* finish_layer(CpuDecoderWorkspace& ws, KvCache& cache, std::size_t l,
                           std::size_t n) const {
    const Layer& layer = weights_.layers[l];
    attend(ws, cache, l, n);
    if (ws.damaged) {
      return "attention";
    }
    ws.x_in.begin(kernels_, n, std::array{&layer.gate, &layer.up});
    if (!add_product(ws, layer.o, ws.heads_in, layer.attn_post_norm, layer.ffn_norm, n) ||
        !find_factors(ws, n)) {
      return "the residual stream";
    }
    feed_forward(ws, layer, n);
    if (ws.damaged) {
      return "the feed-forward layer";
    }
    const bool last = l + 1 == config_.layers;
    std::span<const float> next_norm;
    if (!last) {
      const Layer& next = weights_.layers[l + 1];
      ws.x_in.begin(kernels_, n, std::array{&next.q, &next.k, &next.v});
      next_norm = next.attn_norm;
    }
    if (!add_product(ws, layer.down, ws.gate_in, layer.ffn_post_norm, next_norm, n)) {
      return "the residual stream";
    }
    return last ? nullptr : project(ws, cache, l + 1, n);
  }

  /// Where each column's token goes, what it attends to, its angles, and its embedding in x.
  void prepare(const Slice& slice, const KvCache& cache, Pass pass,
               std::span<const Column> columns) const {
    CpuDecoderWorkspace& ws = *slice.ws;
    if (ws.slots.size() < kMaxColumns * cache.slots()) {
      ws.slots.resize(kMaxColumns * cache.slots());
      ws.scratch.resize(2 * simd::kv_attention_scratch(cache.slots()));
    }
    const Layer& first = weights_.layers.front();
    ws.x_in.begin(kernels_, slice.count, std::array{&first.q, &first.k, &first.v});
    ws.damaged = false;
    for (std::size_t c = 0; c < slice.count; ++c) {
      const std::size_t column = slice.first + c;
      const std::span<std::uint32_t> list = context_list(ws, cache, c);
      auto& token = ws.tokens[c];
      std::size_t position = 0;
      if (pass == Pass::Main) {
        position = cache.length() + column;
        token.slot = cache.slot_of_position(position);
        token.context = cache.context_of_position(position, 0, list);
      } else {
        const auto node = static_cast<KvNodeId>(cache.node_count() - columns.size() + column);
        position = cache.length() + cache.depth(node) - 1;
        token.slot = cache.slot_of_node(node);
        token.context = cache.context_of_node(node, 0, list);
      }
      rope_.angles(position, false, ws.cosines[0][c], ws.sines[0][c]);
      if (config_.sliding_window != 0) {
        rope_.angles(position, true, ws.cosines[1][c], ws.sines[1][c]);
      }
      simd::dequantize_row(kernels_, weights_.embedding, columns[column].token, ws.x[c]);
      if (config_.embedding_scale != 1.0F) {
        simd::scale(kernels_, ws.x[c], config_.embedding_scale);
      }
      absorb(ws, c, 0, config_.hidden_dim, first.attn_norm);
    }
  }

  static std::span<std::uint32_t> context_list(CpuDecoderWorkspace& ws, const KvCache& cache,
                                               std::size_t column) {
    return std::span(ws.slots).subspan(column * cache.slots(), cache.slots());
  }

  /// Rows [first, first + count) of column c of x are final: notes their squares and makes x times
  /// the norm's weights ready for the next products (`weight` empty: there are none).
  void absorb(CpuDecoderWorkspace& ws, std::size_t c, std::size_t first, std::size_t count,
              std::span<const float> weight) const {
    const std::span<const float> x = ws.x[c].subspan(first, count);
    note_squares(ws, c, first, x);
    if (weight.empty()) {
      return;
    }
    Scratch weighted;
    for (std::size_t at = 0; at < count;) {
      const std::size_t part = std::min(count - at, kScratch);
      for (std::size_t i = 0; i < part; ++i) {
        weighted[i] = x[at + i] * weight[first + at + i];
      }
      ws.x_in.put(kernels_, c, first + at, std::span(weighted).first(part));
      at += part;
    }
  }

  static void note_squares(CpuDecoderWorkspace& ws, std::size_t c, std::size_t first,
                           std::span<const float> rows) {
    for (std::size_t at = 0; at < rows.size(); at += kSegment) {
      ws.squares[(first + at) / kSegment][c] =
          squares_of(rows.subspan(at, std::min(kSegment, rows.size() - at)));
    }
  }

  /// ws.factor = 1 / root mean square of what note_squares saw. False where that is not finite.
  bool find_factors(CpuDecoderWorkspace& ws, std::size_t n) const {
    std::array<float, kMaxColumns> sums{};
    for (const std::array<float, kMaxColumns>& segment : ws.squares) {
      for (std::size_t c = 0; c < kMaxColumns; ++c) {
        sums[c] += segment[c];
      }
    }
    const auto length = static_cast<float>(config_.hidden_dim);
    for (std::size_t c = 0; c < n; ++c) {
      ws.factor[c] = 1.0F / std::sqrt(sums[c] / length + config_.norm_eps);
    }
    return finite(std::span(sums).first(n));
  }

  /// q, k, v of x: heads normed and turned, q in ws.q, k and v in the cache. Null, or where x is
  /// damaged.
  const char* project(CpuDecoderWorkspace& ws, KvCache& cache, std::size_t l, std::size_t n) const {
    if (!find_factors(ws, n)) {
      return "the residual stream";
    }
    const Layer& layer = weights_.layers[l];
    const std::size_t hd = config_.head_dim;
    const bool slides = config_.slides(l);
    struct Part {
      const PackedMatrix* matrix;
      std::span<const float> bias, norm;
      std::size_t heads;
    };
    const std::array<Part, 3> parts = {Part{&layer.q, layer.q_bias, layer.q_norm, config_.heads},
                                       Part{&layer.k, layer.k_bias, layer.k_norm, config_.kv_heads},
                                       Part{&layer.v, layer.v_bias, {}, config_.kv_heads}};
    const auto some_heads = [&](std::size_t which, std::size_t head, std::size_t heads) {
      const Part& part = parts[which];
      const std::size_t rows = heads * hd;
      std::array<float, kHeadsScratch> scratch;
      const PackedMatrix matrix = rows_of(*part.matrix, head * hd, rows);
      simd::matmul(kernels_, {&matrix, &ws.x_in.of(*part.matrix), {}, scratch, rows});
      for (std::size_t c = 0; c < n; ++c) {
        const std::span<float> out = std::span(scratch).subspan(c * rows, rows);
        simd::scale(kernels_, out, ws.factor[c]);
        if (!part.bias.empty()) {
          simd::add(kernels_, part.bias.subspan(head * hd, rows), out);
        }
        if (!part.norm.empty()) {
          simd::rms_norm_rows(kernels_, out, part.norm, config_.norm_eps, out);
        }
        if (!finite(out)) {  // softmax would hide it
          ws.damaged = true;
        }
        if (which < 2) {
          simd::rope(kernels_, out, ws.cosines[slides][c], ws.sines[slides][c]);
        }
        if (which == 0) {
          std::ranges::copy(out, ws.q[c].subspan(head * hd).begin());
          continue;
        }
        const simd::KvPlane plane = which == 1 ? cache.keys(l) : cache.values(l);
        for (std::size_t h = 0; h < heads; ++h) {
          simd::store_kv(kernels_, head_of(plane, head + h), ws.tokens[c].slot,
                         out.subspan(h * hd, hd));
        }
      }
    };
    // All heads of q, k and v in a row, which is how they lie in the file; a share is a run of
    // them.
    const std::size_t most = std::max<std::size_t>(kHeadsScratch / (n * hd), 1);
    const std::size_t all = config_.heads + 2 * std::size_t{config_.kv_heads};
    const std::size_t units = ws.shares() ? 2 : 1;
    ws.run(units, [&](std::size_t unit) {
      if (shares_attention(ws, n)) {
        prefetch_context(ws, cache, l, unit, units);
      } else if (unit == 0) {  // the calling thread's, as attention will be
        prefetch_context(ws, cache, l, 0, 1);
      }
      for (std::size_t i = all * unit / units, end = all * (unit + 1) / units; i < end;) {
        const std::size_t which = i < config_.heads ? 0 : i < all - config_.kv_heads ? 1 : 2;
        const std::size_t first = which == 0 ? 0 : config_.heads + (which - 1) * config_.kv_heads;
        const std::size_t heads = std::min({end - i, first + parts[which].heads - i, most});
        some_heads(which, i - first, heads);
        i += heads;
      }
    });
    return ws.damaged ? "attention" : nullptr;
  }

  /// One head of a plane, as a plane.
  static simd::KvPlane head_of(simd::KvPlane plane, std::size_t head) {
    plane.data += simd::kv_plane_bytes(plane.storage, head, plane.slots, plane.head_dim);
    plane.scales = plane.scales == nullptr ? nullptr : plane.scales + head * plane.slots;
    plane.kv_heads = 1;
    return plane;
  }

  /// Brings a share of the layer's keys and values near, while weights stream: attention would
  /// otherwise wait for memory at each of its many short runs.
  void prefetch_context(CpuDecoderWorkspace& ws, const KvCache& cache, std::size_t l,
                        std::size_t unit, std::size_t units) const {
    const simd::KvPlane keys = cache.keys(l), values = cache.values(l);
    const std::size_t row = simd::kv_plane_bytes(keys.storage, 1, 1, keys.head_dim);
    std::size_t context =
        std::min(ws.tokens[0].context, kNearBytes / (2 * config_.kv_heads * row) + 1);
    if (config_.slides(l)) {
      context = std::min<std::size_t>(context, config_.sliding_window);
    }
    const std::size_t rows = 2 * config_.kv_heads * context;
    const std::span<const std::uint32_t> list =
        context_list(ws, cache, 0).subspan(ws.tokens[0].context - context, context);
    for (std::size_t i = rows * unit / units; i < rows * (unit + 1) / units; ++i) {
      const std::size_t plane = i / context;
      const std::byte* const at = (plane % 2 == 0 ? keys.data : values.data) +
                                  (plane / 2 * keys.slots + list[i % context]) * row;
      for (std::size_t line = 0; line < row; line += kLine) {
        __builtin_prefetch(at + line, 0, 2);
      }
    }
  }

  /// Whether attention is work enough for two threads.
  bool shares_attention(const CpuDecoderWorkspace& ws, std::size_t n) const {
    return ws.shares() && n * ws.tokens[0].context * config_.q_dim() >= kWorthSharingProducts;
  }

  /// Attention of all columns, ready for the product with o.
  void attend(CpuDecoderWorkspace& ws, KvCache& cache, std::size_t l, std::size_t n) const {
    const Layer& layer = weights_.layers[l];
    const bool slides = config_.slides(l);
    const std::size_t hd = config_.head_dim;
    ws.heads_in.begin(kernels_, n, std::array{&layer.o});
    // Two parts, each of heads that fill whole groups of codes and, where there are several, whole
    // groups of queries; a part keeps its heads for all columns. Little work is not worth sharing.
    const std::size_t queries = config_.kv_heads > 1 ? config_.heads / config_.kv_heads : 1;
    const std::size_t together =
        std::lcm(std::max<std::size_t>(ws.heads_in.step() / hd, 1), queries);
    const std::size_t half = (config_.heads / 2 + together - 1) / together * together;
    const std::size_t parts = shares_attention(ws, n) && half < config_.heads && half != 0 ? 2 : 1;
    ws.run(ws.shares() ? 2 : 1, [&](std::size_t part) {
      if (part >= parts) {  // meanwhile, bring what this thread is about to read
        const std::size_t rows = rows_a_unit(ws, config_.hidden_dim, kSegment, n);
        prefetch(layer.o, rows);
        return;
      }
      simd::KvAttentionArgs args;
      args.keys = cache.keys(l);
      args.values = cache.values(l);
      args.heads = config_.heads;
      args.first_head = part == 0 ? 0 : half;
      args.last_head = parts == 2 && part == 0 ? half : config_.heads;
      args.scale = config_.attention_scale;
      args.scratch = ws.scratch.data() + part * (ws.scratch.size() / 2);
      for (std::size_t c = 0; c < n; ++c) {
        const std::size_t context = ws.tokens[c].context;
        args.count = slides ? std::min<std::size_t>(context, config_.sliding_window) : context;
        args.slots = context_list(ws, cache, c).data() + (context - args.count);
        args.query = ws.q[c].data();
        args.out = ws.heads[c].data();
        simd::kv_attention(kernels_, args);
        const std::span<const float> out =
            ws.heads[c].subspan(args.first_head * hd, (args.last_head - args.first_head) * hd);
        if (!ws.heads_in.put(kernels_, c, args.first_head * hd, out)) {
          ws.damaged = true;
        }
      }
    });
  }

  /// Brings the matrix near from row `first` on.
  static void prefetch(const PackedMatrix& matrix, std::size_t first) {
    const std::size_t end = bytes_of(matrix);
    for (std::size_t at = first / simd::kBlockRows * matrix.block_bytes; at < end; at += kLine) {
      __builtin_prefetch(matrix.data + at, 0, 2);
    }
  }

  /// gate_in = act(gate x) * up x.
  void feed_forward(CpuDecoderWorkspace& ws, const Layer& layer, std::size_t n) const {
    ws.gate_in.begin(kernels_, n, std::array{&layer.down});
    const std::size_t f = config_.ffn_dim, each = rows_a_unit(ws, f, ws.gate_in.step(), n);
    ws.run((f + each - 1) / each, [&](std::size_t unit) {
      const std::size_t first = unit * each, rows = std::min(each, f - first);
      Scratch gate_scratch, up_scratch;
      const std::span<float> gate = std::span(gate_scratch).first(n * rows);
      const std::span<float> up = std::span(up_scratch).first(n * rows);
      const PackedMatrix gate_rows = rows_of(layer.gate, first, rows);
      const PackedMatrix up_rows = rows_of(layer.up, first, rows);
      simd::matmul(kernels_, {&gate_rows, &ws.x_in.of(layer.gate), {}, gate, rows});
      simd::matmul(kernels_, {&up_rows, &ws.x_in.of(layer.up), {}, up, rows});
      for (std::size_t c = 0; c < n; ++c) {
        simd::scale(kernels_, gate.subspan(c * rows, rows), ws.factor[c]);
        simd::scale(kernels_, up.subspan(c * rows, rows), ws.factor[c]);
      }
      if (config_.activation == Activation::SiLU) {
        simd::silu_gate(kernels_, gate, up, gate);
      } else {
        simd::gelu_gate(kernels_, gate, up, gate);
      }
      for (std::size_t c = 0; c < n; ++c) {
        if (!ws.gate_in.put(kernels_, c, first, gate.subspan(c * rows, rows))) {
          ws.damaged = true;
        }
      }
    });
  }

  /// x += matrix * in, normed first where the family does (`post_norm`); x is then absorbed for the
  /// products after the norm with weights `next`. False where the update is not finite.
  bool add_product(CpuDecoderWorkspace& ws, const PackedMatrix& matrix, const Inputs& in,
                   std::span<const float> post_norm, std::span<const float> next,
                   std::size_t n) const {
    const std::size_t d = config_.hidden_dim, each = rows_a_unit(ws, d, ws.x_in.step(), n);
    const std::size_t units = (d + each - 1) / each;
    ws.run(units, [&](std::size_t unit) {
      const std::size_t first = unit * each, rows = std::min(each, d - first);
      Scratch scratch;
      const PackedMatrix part = rows_of(matrix, first, rows);
      simd::matmul(kernels_, {&part, &in.of(matrix), {}, scratch, rows});
      for (std::size_t c = 0; c < n; ++c) {
        const std::span<const float> update = std::span(scratch).subspan(c * rows, rows);
        if (post_norm.empty()) {
          simd::add(kernels_, update, ws.x[c].subspan(first, rows));
          absorb(ws, c, first, rows, next);
        } else {
          std::ranges::copy(update, ws.y[c].subspan(first).begin());
          note_squares(ws, c, first, update);
        }
      }
    });
    if (post_norm.empty()) {
      return true;  // x's own squares tell
    }
    if (!find_factors(ws, n)) {
      return false;
    }
    const auto add_normed = [&](std::size_t unit) {
      const std::size_t first = unit * each, rows = std::min(each, d - first);
      for (std::size_t c = 0; c < n; ++c) {
        const std::span<float> x = ws.x[c].subspan(first, rows);
        const std::span<const float> y = ws.y[c].subspan(first, rows);
        for (std::size_t i = 0; i < rows; ++i) {
          x[i] += y[i] * ws.factor[c] * post_norm[first + i];
        }
        absorb(ws, c, first, rows, next);
      }
    };
    if (n == 1) {  // too little to share
      for (std::size_t unit = 0; unit < units; ++unit) {
        add_normed(unit);
      }
    } else {
      ws.run(units, add_normed);
    }
    return true;
  }

  /// Rows of one unit: a multiple of `step` and of kSegment that fits Scratch; as few units as that
  /// allows, since each has a cost of its own, and as many for one thread as for the other.
  static std::size_t rows_a_unit(const CpuDecoderWorkspace& ws, std::size_t rows, std::size_t step,
                                 std::size_t n) {
    const auto shares = [](std::size_t of, std::size_t by) { return (of + by - 1) / by; };
    const std::size_t unit = std::max(step, kSegment);
    const std::size_t mine = ws.shares() ? shares(rows, 2) : rows;
    const std::size_t most = std::max<std::size_t>(kScratch / n / unit, 1);  // in `unit`s
    const std::size_t needed = shares(mine, unit);
    return shares(needed, shares(needed, most)) * unit;
  }

  bool finite(std::span<const float> x) const { return simd::all_finite(kernels_, x); }

  DecoderConfig config_;
  OwnedPackedDecoder owned_;
  const DecoderWeights<PackedMatrix>& weights_;
  const simd::Kernels& kernels_;
  RopeFrequencies rope_;
  CpuHead head_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Decoder> make_cpu_decoder(const DecoderConfig& config, OwnedPackedDecoder weights,
                                          const simd::Kernels& kernels) {
  return std::make_unique<CpuDecoder>(config, std::move(weights), kernels);
}

}  // namespace laya::model

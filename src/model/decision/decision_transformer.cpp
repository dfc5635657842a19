// The pass of the small transformer: every token attends to all of the window, and only the newest
// one answers, so the last layer computes the keys and values of all and the rest of one.
#include <algorithm>

#include "model/decision/decision_parts.h"
#include "simd/kv_attention.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

class Pass {
 public:
  Pass(const DecisionParts& parts, DecisionWorkspace& workspace)
      : parts_(parts), workspace_(workspace) {}

  /// out [tokens, rows] = matrix · x [tokens, cols]
  void product(const simd::PackedMatrix& matrix, std::span<const float> x, std::span<float> out,
               std::span<const float> bias = {}) {
    const std::size_t tokens = x.size() / matrix.cols;
    for (std::size_t first = 0; first < tokens; first += kMaxColumns) {
      const std::size_t columns = std::min(kMaxColumns, tokens - first);
      workspace_.activations.set(parts_.kernels,
                                 x.subspan(first * matrix.cols, columns * matrix.cols), matrix.cols,
                                 columns, matrix.cols, matrix.group);
      simd::matmul(parts_.kernels,
                   {&matrix, &workspace_.activations, bias,
                    out.subspan(first * matrix.rows, columns * matrix.rows), matrix.rows});
    }
  }

  /// The tokens' streams after `block`; the last `answering` of them alone are needed.
  void run(const DecisionParts::Block& block, std::size_t tokens, std::size_t answering) {
    const DecisionConfig& config = parts_.config;
    const std::size_t e = config.embedding_dim, a = config.attention_dim(), m = config.ffn_dim;
    const auto part = [](std::vector<float>& values, std::size_t size) {
      return std::span<float>(values).first(size);
    };
    const std::span<float> stream = part(workspace_.stream, tokens * e);
    const std::span<float> normed = part(workspace_.normed, tokens * e);
    simd::rms_norm_rows(parts_.kernels, stream, block.attn_norm, config.norm_eps, normed);
    const std::span<float> keys_values = part(workspace_.keys_values, tokens * 2 * a);
    product(block.w_kv, normed, keys_values);
    const simd::KvPlane keys = plane(workspace_.key_plane);
    const simd::KvPlane values = plane(workspace_.value_plane);
    for (std::size_t t = 0; t < tokens; ++t) {
      simd::store_kv(parts_.kernels, keys, t, keys_values.subspan(t * 2 * a, a));
      simd::store_kv(parts_.kernels, values, t, keys_values.subspan(t * 2 * a + a, a));
    }
    const std::span<float> query = part(workspace_.query, answering * a);
    product(block.w_q, normed.last(answering * e), query);
    const std::span<float> mixed = part(workspace_.mixed, answering * a);
    for (std::size_t t = 0; t < answering; ++t) {
      simd::KvAttentionArgs args;
      args.keys = keys;
      args.values = values;
      args.heads = config.heads;
      args.last_head = config.heads;
      args.scale = 1.0F / std::sqrt(static_cast<float>(config.head_dim));
      args.slots = workspace_.slots.data();
      args.count = tokens;
      args.query = query.data() + t * a;
      args.out = mixed.data() + t * a;
      args.scratch = workspace_.scratch.data();
      simd::kv_attention(parts_.kernels, args);
    }
    const std::span<float> answer = stream.last(answering * e);
    const std::span<float> delta = part(workspace_.delta, answering * e);
    product(block.w_o, mixed, delta);
    simd::add(parts_.kernels, delta, answer);
    const std::span<float> gated = normed.last(answering * e);
    simd::rms_norm_rows(parts_.kernels, answer, block.ffn_norm, config.norm_eps, gated);
    const std::span<float> gate = part(workspace_.gate, answering * m);
    const std::span<float> up = part(workspace_.up, answering * m);
    product(block.w_gate, gated, gate);
    product(block.w_up, gated, up);
    simd::silu_gate(parts_.kernels, gate, up, gate);
    product(block.w_down, gate, delta);
    simd::add(parts_.kernels, delta, answer);
  }

 private:
  simd::KvPlane plane(AlignedBytes& bytes) const {
    const DecisionConfig& config = parts_.config;
    return {simd::KvStorage::Fp32, config.heads,         config.window,
            config.head_dim,       bytes.bytes().data(), nullptr};
  }

  const DecisionParts& parts_;
  DecisionWorkspace& workspace_;
};

}  // namespace

void transformer_logits(const DecisionParts& parts, DecisionWorkspace& workspace,
                        std::span<const TokenId> window, std::span<float> out) {
  const std::size_t e = parts.config.embedding_dim, tokens = window.size();
  const std::span<float> stream = std::span(workspace.stream).first(tokens * e);
  for (std::size_t t = 0; t < tokens; ++t) {
    const std::span<float> x = stream.subspan(t * e, e);
    simd::dequantize_row(parts.kernels, parts.embedding, window[t], x);
    simd::add(parts.kernels, parts.position.subspan((tokens - 1 - t) * e, e), x);
  }
  Pass pass(parts, workspace);
  for (std::size_t l = 0; l < parts.blocks.size(); ++l) {
    pass.run(parts.blocks[l], tokens, l + 1 == parts.blocks.size() ? 1 : tokens);
  }
  const std::span<float> normed = std::span(workspace.normed).first(e);
  simd::rms_norm(parts.kernels, stream.last(e), parts.final_norm, parts.config.norm_eps, normed);
  pass.product(parts.out, normed, out, parts.out_bias);
}

}  // namespace laya::model

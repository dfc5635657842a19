// The passes of the two MLPs.
#include <algorithm>

#include "model/decision/decision_parts.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

/// Hidden layers over `columns` vectors, x = silu(W x + b); `input` is prepared in the workspace's
/// activations already. Returns the last layer's output, prepared as well, for `next`.
void run_hidden(const DecisionParts& parts, DecisionWorkspace& workspace, std::size_t columns,
                const simd::PackedMatrix& next) {
  for (std::size_t l = 0; l < parts.hidden.size(); ++l) {
    const DecisionParts::Hidden& layer = parts.hidden[l];
    const std::size_t width = layer.weight.rows;
    const std::span<float> out = workspace.wide[l % 2].all(columns).first(columns * width);
    simd::matmul(parts.kernels,
                 {&layer.weight, &workspace.activations, layer.bias, out, /*out_stride=*/width});
    simd::silu_gate(parts.kernels, out, std::span(workspace.ones).first(out.size()), out);
    const bool last = l + 1 == parts.hidden.size();
    const std::size_t group = last ? next.group : parts.hidden[l + 1].weight.group;
    workspace.activations.set(parts.kernels, out, width, columns, width, group);
  }
}

}  // namespace

void score_candidates(const DecisionParts& parts, DecisionWorkspace& workspace,
                      std::span<const float> features, std::span<float> out) {
  const std::size_t columns = out.size(), width = parts.mean.size();
  const std::span<float> x = workspace.input.all(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t f = 0; f < width; ++f) {
      const float scaled = (features[c * width + f] - parts.mean[f]) * parts.scale[f];
      x[c * width + f] = std::clamp(scaled, -kFarthestFeature, kFarthestFeature);
    }
  }
  workspace.activations.set(parts.kernels, x, width, columns, width, parts.hidden[0].weight.group);
  std::array<float, kMaxColumns> skipped{};
  simd::matmul(parts.kernels, {&parts.skip, &workspace.activations, {}, skipped, 1});
  run_hidden(parts, workspace, columns, parts.out);
  simd::matmul(parts.kernels, {&parts.out, &workspace.activations, parts.out_bias, out, 1});
  for (std::size_t c = 0; c < columns; ++c) {
    out[c] += skipped[c];
  }
}

void windowed_mlp_logits(const DecisionParts& parts, DecisionWorkspace& workspace,
                         std::span<const TokenId> window, std::span<float> out) {
  const std::size_t e = parts.config.embedding_dim;
  const std::span<float> x = workspace.input[0];
  const std::size_t absent = parts.config.window - window.size();
  std::fill_n(x.begin(), absent * e, 0.0F);
  for (std::size_t i = 0; i < window.size(); ++i) {
    simd::dequantize_row(parts.kernels, parts.embedding, window[i], x.subspan((absent + i) * e, e));
  }
  workspace.activations.set(parts.kernels, x, parts.hidden[0].weight.group);
  run_hidden(parts, workspace, 1, parts.out);
  simd::matmul(parts.kernels, {&parts.out, &workspace.activations, parts.out_bias, out});
}

}  // namespace laya::model

#include "model/decoder/decoder_cpu_head.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "model/decoder/decoder_checks.h"
#include "model/gru/call_checks.h"
#include "simd/ops.h"

namespace laya::model {
namespace {

// Scores of the head in one unit of work.
constexpr std::size_t kScores = 8192;

}  // namespace

Status CpuHead::logits(CpuDecoderWorkspace& ws, std::span<const float> hidden, std::size_t columns,
                       std::span<float> out) const {
  if (auto status = check_scores(config_, hidden, columns, config_.vocabulary_size, out); !status) {
    return status;
  }
  if (!finite(hidden)) {
    return not_finite("the output vector");  // int8 codes would hide it
  }
  const simd::Activations& x = input(ws, hidden, columns);
  const std::size_t v = config_.vocabulary_size;
  const std::size_t rows = kScores / columns / simd::kBlockRows * simd::kBlockRows;
  std::atomic<bool> damaged{false};  // looked for while a unit's scores are near
  ws.run((v + rows - 1) / rows, [&](std::size_t unit) {
    const std::size_t first = unit * rows;
    const simd::PackedMatrix part = rows_of(matrix_, first, std::min(rows, v - first));
    simd::matmul(kernels_, {&part, &x, {}, out.subspan(first), v});
    for (std::size_t c = 0; c < columns; ++c) {
      const std::span<float> scores = out.subspan(c * v + first, part.rows);
      soft_cap(scores);
      if (!finite(scores)) {
        damaged = true;
      }
    }
  });
  return damaged ? no_scores(out) : Status{};
}

Status CpuHead::logits_rows(CpuDecoderWorkspace& ws, std::span<const float> hidden,
                            std::size_t columns, std::span<const TokenId> rows,
                            std::span<float> out) const {
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
  const simd::Activations& x = input(ws, hidden, columns);
  ws.run((rows.size() + kHeadRows - 1) / kHeadRows, [&](std::size_t unit) {
    const std::size_t first = unit * kHeadRows;
    simd::matmul_rows(kernels_, {&matrix_, &x, {}, out.subspan(first), rows.size()},
                      rows.subspan(first, std::min(kHeadRows, rows.size() - first)));
  });
  soft_cap(out);
  return finite_scores(out);
}

Status CpuHead::log_normalizers(CpuDecoderWorkspace& ws, std::span<const float> hidden,
                                std::size_t columns, std::span<float> out) const {
  if (auto status = check_scores(config_, hidden, columns, 1, out); !status) {
    return status;
  }
  if (!finite(hidden)) {
    return not_finite("the output vector");  // int8 codes would hide it
  }
  const simd::Activations& x = input(ws, hidden, columns);
  // A chunk of rows at a time, so that scores never leave the cache; each chunk's log-sum is the
  // same whoever computes it, and they are joined in order.
  const std::size_t v = config_.vocabulary_size, chunks = (v + kHeadRows - 1) / kHeadRows;
  ws.run(chunks, [&](std::size_t chunk) {
    std::array<float, kMaxColumns * kHeadRows> scores;
    const std::size_t first = chunk * kHeadRows;
    const simd::PackedMatrix part = rows_of(matrix_, first, std::min(kHeadRows, v - first));
    simd::matmul(kernels_, {&part, &x, {}, scores, part.rows});
    for (std::size_t c = 0; c < columns; ++c) {
      const std::span<float> column = std::span(scores).subspan(c * part.rows, part.rows);
      soft_cap(column);
      ws.partial[c * chunks + chunk] = simd::log_sum_exp(kernels_, column);
    }
  });
  for (std::size_t c = 0; c < columns; ++c) {
    out[c] = simd::log_sum_exp(kernels_, std::span(ws.partial).subspan(c * chunks, chunks));
  }
  return finite_scores(out);
}

/// Vectors of hidden, as the head wants them.
const simd::Activations& CpuHead::input(CpuDecoderWorkspace& ws, std::span<const float> hidden,
                                        std::size_t columns) const {
  const std::size_t d = config_.hidden_dim;
  ws.x_in.begin(kernels_, columns, std::array{&matrix_});
  for (std::size_t c = 0; c < columns; ++c) {
    ws.x_in.put(kernels_, c, 0, hidden.subspan(c * d, d));
  }
  return ws.x_in.of(matrix_);
}

/// scores = cap * tanh(scores / cap).
void CpuHead::soft_cap(std::span<float> scores) const {
  const float cap = config_.logit_soft_cap;
  if (cap <= 0) {
    return;
  }
  simd::scale(kernels_, scores, 1.0F / cap);
  simd::tanh(kernels_, scores, scores);
  simd::scale(kernels_, scores, cap);
}

bool CpuHead::finite(std::span<const float> x) const { return simd::all_finite(kernels_, x); }

Status CpuHead::finite_scores(std::span<float> out) const {
  return finite(out) ? Status{} : no_scores(out);
}

Status CpuHead::no_scores(std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  return not_finite("the scores");
}

}  // namespace laya::model

#include "simd/ops.h"

#include <algorithm>
#include <cassert>

#include "simd/thread_pool.h"

namespace laya::simd {
namespace {

// Bytes of weights in one unit of shared work: about 0.3 us, what one thread may have to wait for
// the other at the end.
constexpr std::size_t kChunkBytes = 32 * 1024;

// Below this a region stays on the calling thread: 2 us of work in cache, 4 out of memory, where
// handing over half of it costs about 1 us (cache lines take 100 to 200 ns from core to core).
constexpr std::size_t kWorthSharingBytes = 192 * 1024;

// From so many columns on, time grows with them (below, the weights' way from memory hides it).
constexpr std::size_t kColumnsForFree = 4;

MatmulArgs checked_args(const MatmulJob& job, std::size_t rows_out) {
  const ActivationView& x = job.x->view();
  assert(x.length == job.weights->cols && x.columns >= 1);
  assert(job.weights->group == 0 || job.weights->group == x.group);
  assert(job.bias.empty() || job.bias.size() == job.weights->rows);
  assert(x.columns == 1 || job.out_stride >= rows_out);
  assert(job.out.size() >= (x.columns - 1) * job.out_stride + rows_out);
  static_cast<void>(rows_out);
  return {*job.weights, x, job.bias.empty() ? nullptr : job.bias.data(), job.out.data(),
          job.out_stride};
}

std::size_t blocks_per_chunk(const PackedMatrix& m) {
  return std::max<std::size_t>(
      4, kChunkBytes / m.block_bytes);  // at least 4: float products run 4 side by side
}

std::size_t chunks_of(const PackedMatrix& m) {
  const std::size_t each = blocks_per_chunk(m);
  return (m.blocks + each - 1) / each;
}

}  // namespace

void matmul(const Kernels& kernels, const MatmulJob& job) {
  kernels.matmul_blocks(checked_args(job, job.weights->rows), 0, job.weights->blocks);
}

void matmul(const Kernels& kernels, ThreadPool& pool, std::span<const MatmulJob> jobs) {
  std::size_t chunks = 0;
  std::size_t bytes = 0;
  for (const MatmulJob& job : jobs) {
    chunks += chunks_of(*job.weights);
    const std::size_t factor = std::max<std::size_t>(1, job.x->view().columns / kColumnsForFree);
    bytes += job.weights->blocks * job.weights->block_bytes * factor;
  }
  if (pool.threads() == 1 || bytes < kWorthSharingBytes) {
    for (const MatmulJob& job : jobs) matmul(kernels, job);
    return;
  }
  pool.run(chunks, [&kernels, jobs](std::size_t i) {
    for (const MatmulJob& job : jobs) {
      const PackedMatrix& m = *job.weights;
      const std::size_t count = chunks_of(m);
      if (i < count) {
        const std::size_t each = blocks_per_chunk(m);
        kernels.matmul_blocks(checked_args(job, m.rows), i * each,
                              std::min(m.blocks, (i + 1) * each));
        return;
      }
      i -= count;
    }
  });
}

void matmul_rows(const Kernels& kernels, const MatmulJob& job,
                 std::span<const std::uint32_t> rows) {
  assert(std::all_of(rows.begin(), rows.end(),
                     [&job](std::uint32_t row) { return row < job.weights->rows; }));
  if (rows.empty()) return;
  kernels.matmul_rows(checked_args(job, rows.size()), rows.data(), rows.size());
}

void dequantize_row(const Kernels& kernels, const PackedMatrix& matrix, std::size_t row,
                    std::span<float> out) {
  assert(row < matrix.rows && out.size() == matrix.cols);
  kernels.dequantize_row(matrix, row, out.data());
}

void rms_norm(const Kernels& kernels, std::span<const float> x, std::span<const float> weight,
              float eps, std::span<float> out) {
  assert(weight.size() == x.size() && out.size() == x.size());
  kernels.rms_norm(x.data(), weight.data(), eps, x.size(), out.data());
}

void rms_norm_rows(const Kernels& kernels, std::span<const float> x, std::span<const float> weight,
                   float eps, std::span<float> out) {
  const std::size_t n = weight.size();
  assert(n != 0 && x.size() % n == 0 && out.size() == x.size());
  for (std::size_t at = 0; at < x.size(); at += n) {
    kernels.rms_norm(x.data() + at, weight.data(), eps, n, out.data() + at);
  }
}

void softmax(const Kernels& kernels, std::span<const float> x, std::span<float> out) {
  assert(out.size() == x.size());
  kernels.softmax(x.data(), x.size(), out.data());
}

float log_sum_exp(const Kernels& kernels, std::span<const float> x) {
  return kernels.log_sum_exp(x.data(), x.size());
}

std::size_t top_k(const Kernels& kernels, std::span<const float> x,
                  std::span<std::uint32_t> indices, std::span<float> values) {
  assert(indices.size() == values.size() && indices.size() <= 256);
  return kernels.top_k(x.data(), x.size(), indices.size(), indices.data(), values.data());
}

void exp(const Kernels& kernels, std::span<const float> x, std::span<float> out) {
  assert(out.size() == x.size());
  kernels.exp(x.data(), x.size(), out.data());
}

void sigmoid(const Kernels& kernels, std::span<const float> x, std::span<float> out) {
  assert(out.size() == x.size());
  kernels.sigmoid(x.data(), x.size(), out.data());
}

void tanh(const Kernels& kernels, std::span<const float> x, std::span<float> out) {
  assert(out.size() == x.size());
  kernels.tanh(x.data(), x.size(), out.data());
}

void rope(const Kernels& kernels, std::span<float> x, std::span<const float> cosines,
          std::span<const float> sines) {
  const std::size_t head_dim = 2 * cosines.size();
  assert(head_dim != 0 && sines.size() == cosines.size() && x.size() % head_dim == 0);
  kernels.rope(x.data(), x.size() / head_dim, head_dim, cosines.data(), sines.data());
}

void silu_gate(const Kernels& kernels, std::span<const float> gate, std::span<const float> up,
               std::span<float> out) {
  assert(up.size() == gate.size() && out.size() == gate.size());
  kernels.silu_gate(gate.data(), up.data(), gate.size(), out.data());
}

void gelu_gate(const Kernels& kernels, std::span<const float> gate, std::span<const float> up,
               std::span<float> out) {
  assert(up.size() == gate.size() && out.size() == gate.size());
  kernels.gelu_gate(gate.data(), up.data(), gate.size(), out.data());
}

void gru_gates(const Kernels& kernels, std::span<const float> gi, std::span<const float> gh,
               std::span<const float> h, std::span<float> out) {
  assert(gi.size() == 3 * h.size() && gh.size() == 3 * h.size() && out.size() == h.size());
  kernels.gru_gates(gi.data(), gh.data(), h.data(), h.size(), out.data());
}

void window_attention(const Kernels& kernels, const WindowAttentionArgs& args) {
  assert(args.window >= 1 && args.window <= 64 && args.count >= 1 && args.count <= args.window);
  assert(args.newest < args.window);
  kernels.window_attention(args);
}

void add(const Kernels& kernels, std::span<const float> x, std::span<float> accumulator) {
  assert(x.size() == accumulator.size());
  kernels.add(x.data(), x.size(), accumulator.data());
}

void scale(const Kernels& kernels, std::span<float> x, float factor) {
  kernels.scale(x.data(), x.size(), factor);
}

bool all_finite(const Kernels& kernels, std::span<const float> x) {
  return kernels.all_finite(x.data(), x.size());
}

void to_fp16(const Kernels& kernels, std::span<const float> x, std::span<std::uint16_t> out) {
  assert(out.size() == x.size());
  kernels.to_fp16(x.data(), x.size(), out.data());
}

void from_fp16(const Kernels& kernels, std::span<const std::uint16_t> x, std::span<float> out) {
  assert(out.size() == x.size());
  kernels.from_fp16(x.data(), x.size(), out.data());
}

std::uint64_t stream_read(const Kernels& kernels, std::span<const std::byte> bytes) {
  return kernels.stream_read(bytes.data(), bytes.size());
}

}  // namespace laya::simd

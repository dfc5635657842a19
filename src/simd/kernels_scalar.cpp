// The plain kernels: what every other table is tested against, and what runs on a CPU with none of
// our instruction sets. Readable first. Quantised products use one fused multiply-add per group, as
// the fast ones do, so they have the same bits; the functions use the C library, so the fast ones
// differ from them by a few ulp.
#include <cmath>
#include <cstring>
#include <limits>

#include "simd/float16.h"
#include "simd/impl/tables.h"

namespace laya::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const std::byte* block_of(const PackedMatrix& m, std::size_t row) {
  return m.data + row / kBlockRows * m.block_bytes;
}

float half_at(const std::byte* table, std::size_t index) {
  std::uint16_t half;
  std::memcpy(&half, table + index * sizeof half, sizeof half);
  return float_from_fp16(half);
}

float scale_at(const PackedMatrix& m, std::size_t row, std::size_t g) {
  return half_at(block_of(m, row), g * kBlockRows + row % kBlockRows);
}

float minimum_at(const PackedMatrix& m, std::size_t row, std::size_t g) {
  return half_at(block_of(m, row) + m.minima_offset, g * kBlockRows + row % kBlockRows);
}

int code_at(const PackedMatrix& m, std::size_t row, std::size_t col) {
  const std::size_t quad = col / kQuad;
  const std::size_t lane = row % kBlockRows * kQuad + col % kQuad;
  const std::byte* codes = block_of(m, row) + m.codes_offset;
  if (m.type == WeightType::Int8) return static_cast<int>(codes[quad * 64 + lane]);
  const int both = static_cast<int>(codes[quad / 2 * 64 + lane]);
  return quad % 2 == 0 ? both & 15 : both >> 4;
}

float float_at(const PackedMatrix& m, std::size_t row, std::size_t col) {
  const std::size_t index = col * kBlockRows + row % kBlockRows;
  if (m.type == WeightType::Fp16) return half_at(block_of(m, row), index);
  float value;
  std::memcpy(&value, block_of(m, row) + index * sizeof value, sizeof value);
  return value;
}

bool is_quantised(const PackedMatrix& m) { return m.group != 0; }

int centre_of(const PackedMatrix& m) {
  if (m.minima == Minima::PerGroup) return 0;
  return m.type == WeightType::Int8 ? kCentreInt8 : kCentreInt4;
}

float row_times_column(const MatmulArgs& args, std::size_t row, std::size_t c) {
  const PackedMatrix& m = args.weights;
  const ActivationView& x = args.x;
  float y = args.bias != nullptr ? args.bias[row] : 0.0f;
  if (!is_quantised(m)) {
    for (std::size_t k = 0; k < m.cols; ++k)
      y = std::fma(float_at(m, row, k), x.values[c * x.value_stride + k], y);
    return y;
  }
  const int centre = centre_of(m);
  for (std::size_t g = 0; g < m.groups; ++g) {
    std::int32_t dot = 0;
    for (std::size_t k = g * m.group; k < (g + 1) * m.group; ++k) {
      dot +=
          (code_at(m, row, k) - centre) * x.codes[(k / kQuad * x.columns + c) * kQuad + k % kQuad];
    }
    const float x_scale = x.scales[g * x.columns + c];
    y = std::fma(static_cast<float>(dot), scale_at(m, row, g) * x_scale, y);
    if (m.minima == Minima::PerGroup) {
      y = std::fma(minimum_at(m, row, g), x.weighted_sums[g * x.columns + c], y);
    }
  }
  return y;
}

void matmul_blocks(const MatmulArgs& args, std::size_t first, std::size_t last) {
  for (std::size_t c = 0; c < args.x.columns; ++c) {
    for (std::size_t row = first * kBlockRows; row < last * kBlockRows && row < args.weights.rows;
         ++row) {
      args.out[c * args.out_stride + row] = row_times_column(args, row, c);
    }
  }
}

void matmul_rows(const MatmulArgs& args, const std::uint32_t* rows, std::size_t count) {
  for (std::size_t c = 0; c < args.x.columns; ++c) {
    for (std::size_t i = 0; i < count; ++i)
      args.out[c * args.out_stride + i] = row_times_column(args, rows[i], c);
  }
}

void quantize_column(const float* x, std::size_t length, std::size_t group, std::size_t columns,
                     std::int8_t* codes, float* scales, std::int32_t* sums) {
  for (std::size_t begin = 0, g = 0; begin < length; begin += group, ++g) {
    float largest = 0.0f;
    for (std::size_t i = begin; i < begin + group && i < length; ++i) {
      // A NaN goes in and stays: it spoils the scale and so shows in the product.
      if (std::isnan(x[i]) || std::fabs(x[i]) > largest) largest = std::fabs(x[i]);
      if (std::isnan(largest)) break;
    }
    const bool nothing = largest < 1e-30f;  // 127 / largest must stay finite
    const float inverse = nothing ? 0.0f : 127.0f / largest;
    std::int32_t sum = 0;
    for (std::size_t i = begin; i < begin + group; ++i) {
      const float scaled = i < length ? x[i] * inverse : 0.0f;
      const int code = std::isnan(scaled) ? 127 : static_cast<int>(std::nearbyint(scaled));
      codes[i / kQuad * columns * kQuad + i % kQuad] = static_cast<std::int8_t>(code);
      sum += code;
    }
    scales[g * columns] = nothing ? 0.0f : largest / 127.0f;
    sums[g * columns] = sum;
  }
}

void rms_norm(const float* x, const float* weight, float eps, std::size_t n, float* out) {
  if (n == 0) return;
  float total = 0.0f;
  for (std::size_t i = 0; i < n; ++i) total += x[i] * x[i];
  const float factor = 1.0f / std::sqrt(total / static_cast<float>(n) + eps);
  for (std::size_t i = 0; i < n; ++i) out[i] = x[i] * factor * weight[i];
}

float max_of(const float* x, std::size_t n) {
  float largest = -kInfinity;
  for (std::size_t i = 0; i < n; ++i) {
    if (x[i] > largest) largest = x[i];
  }
  return largest;
}

void softmax(const float* x, std::size_t n, float* out) {
  const float largest = max_of(x, n);
  float total = 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = largest == -kInfinity ? 1.0f : std::exp(x[i] - largest);
    total += out[i];
  }
  for (std::size_t i = 0; i < n; ++i) out[i] /= total;
}

float log_sum_exp(const float* x, std::size_t n) {
  const float largest = max_of(x, n);
  if (std::isinf(largest)) return largest;
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) total += std::exp(x[i] - largest);
  return largest + static_cast<float>(std::log(total));
}

std::size_t top_k(const float* x, std::size_t n, std::size_t k, std::uint32_t* indices,
                  float* values) {
  if (k == 0) return 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(x[i])) continue;
    if (count == k && !(x[i] > values[k - 1])) continue;
    std::size_t at = count < k ? count++ : k - 1;
    for (; at > 0 && values[at - 1] < x[i]; --at) {
      values[at] = values[at - 1];
      indices[at] = indices[at - 1];
    }
    values[at] = x[i];
    indices[at] = static_cast<std::uint32_t>(i);
  }
  return count;
}

float sigmoid_of(float x) { return 1.0f / (1.0f + std::exp(-x)); }

void exp_all(const float* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = std::exp(x[i]);
}

void sigmoid_all(const float* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = sigmoid_of(x[i]);
}

void tanh_all(const float* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = std::tanh(x[i]);
}

void gru_gates(const float* gi, const float* gh, const float* h, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const float r = sigmoid_of(gi[i] + gh[i]);
    const float z = sigmoid_of(gi[n + i] + gh[n + i]);
    const float c = std::tanh(gi[2 * n + i] + r * gh[2 * n + i]);
    out[i] = (1.0f - z) * c + z * h[i];
  }
}

void window_attention(const WindowAttentionArgs& args) {
  const std::size_t width = args.heads * args.head_dim;
  const auto slot = [&args](std::size_t back) {
    return (args.newest + args.window - back) % args.window;
  };
  for (std::size_t head = 0; head < args.heads; ++head) {
    const std::size_t first = head * args.head_dim;
    float shares[64];
    for (std::size_t j = 0; j < args.count; ++j) {
      const float* key = args.keys + slot(j) * width + first;
      float score = 0.0f;
      for (std::size_t i = 0; i < args.head_dim; ++i) score += args.query[first + i] * key[i];
      shares[j] = score / std::sqrt(static_cast<float>(args.head_dim)) +
                  args.relative_bias[head * args.window + j];
    }
    softmax(shares, args.count, shares);
    for (std::size_t i = 0; i < args.head_dim; ++i) {
      float total = 0.0f;
      for (std::size_t j = 0; j < args.count; ++j)
        total += shares[j] * args.values[slot(j) * width + first + i];
      args.out[first + i] = total;
    }
  }
}

float kv_value(const KvPlane& plane, std::size_t kv_head, std::size_t slot, std::size_t i) {
  const std::size_t row = kv_head * plane.slots + slot;
  const std::size_t at = row * plane.head_dim + i;
  switch (plane.storage) {
    case KvStorage::Fp32: {
      float value;
      std::memcpy(&value, plane.data + at * sizeof value, sizeof value);
      return value;
    }
    case KvStorage::Fp16:
      return half_at(plane.data, at);
    case KvStorage::Int8:
      return plane.scales[row] * static_cast<float>(std::to_integer<std::int8_t>(plane.data[at]));
  }
  return 0.0f;
}

void kv_attention(const KvAttentionArgs& args) {
  const std::size_t n = args.keys.head_dim;
  const std::size_t shared = args.heads / args.keys.kv_heads;
  for (std::size_t head = args.first_head; head < args.last_head; ++head) {
    const float* query = args.query + head * n;
    for (std::size_t j = 0; j < args.count; ++j) {
      float score = 0.0f;
      for (std::size_t i = 0; i < n; ++i)
        score += query[i] * kv_value(args.keys, head / shared, args.slots[j], i);
      args.scratch[j] = score * args.scale;
    }
    softmax(args.scratch, args.count, args.scratch);
    for (std::size_t i = 0; i < n; ++i) {
      float total = 0.0f;
      for (std::size_t j = 0; j < args.count; ++j)
        total += args.scratch[j] * kv_value(args.values, head / shared, args.slots[j], i);
      args.out[head * n + i] = total;
    }
  }
}

void rope(float* x, std::size_t heads, std::size_t head_dim, const float* cosines,
          const float* sines) {
  const std::size_t half = head_dim / 2;
  for (std::size_t head = 0; head < heads; ++head, x += head_dim) {
    for (std::size_t i = 0; i < half; ++i) {
      const float a = x[i];
      const float b = x[i + half];
      x[i] = a * cosines[i] - b * sines[i];
      x[i + half] = b * cosines[i] + a * sines[i];
    }
  }
}

void silu_gate(const float* gate, const float* up, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = gate[i] * sigmoid_of(gate[i]) * up[i];
}

// (1 + tanh(y)) / 2 is sigmoid(2y), which does not cancel where y is far below 0.
void gelu_gate(const float* gate, const float* up, std::size_t n, float* out) {
  constexpr float kTwiceRootTwoOverPi = 1.5957691216057308f;
  for (std::size_t i = 0; i < n; ++i) {
    const float g = gate[i];
    out[i] = g * sigmoid_of(kTwiceRootTwoOverPi * (g + 0.044715f * g * g * g)) * up[i];
  }
}

void add(const float* x, std::size_t n, float* accumulator) {
  for (std::size_t i = 0; i < n; ++i) accumulator[i] += x[i];
}

void scale(float* x, std::size_t n, float factor) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
}

bool all_finite(const float* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return false;
  }
  return true;
}

void to_fp16(const float* x, std::size_t n, std::uint16_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = fp16_from_float(x[i]);
}

void from_fp16(const std::uint16_t* x, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = float_from_fp16(x[i]);
}

std::uint64_t stream_read(const std::byte* data, std::size_t size_bytes) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < size_bytes; i += sizeof total) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + i, size_bytes - i < sizeof word ? size_bytes - i : sizeof word);
    total ^= word;
  }
  return total;
}

}  // namespace

void dequantize_row_scalar(const PackedMatrix& matrix, std::size_t row, float* out) {
  if (!is_quantised(matrix)) {
    for (std::size_t k = 0; k < matrix.cols; ++k) out[k] = float_at(matrix, row, k);
    return;
  }
  const int centre = centre_of(matrix);
  for (std::size_t g = 0; g < matrix.groups; ++g) {
    const float scale = scale_at(matrix, row, g);
    const float minimum = matrix.minima == Minima::PerGroup ? minimum_at(matrix, row, g) : 0.0f;
    for (std::size_t k = g * matrix.group; k < (g + 1) * matrix.group && k < matrix.cols; ++k) {
      out[k] = minimum + scale * static_cast<float>(code_at(matrix, row, k) - centre);
    }
  }
}

const Kernels kScalarKernels = {"scalar",
                                kMaxColumns + 1,
                                matmul_blocks,
                                matmul_rows,
                                dequantize_row_scalar,
                                quantize_column,
                                rms_norm,
                                softmax,
                                log_sum_exp,
                                top_k,
                                exp_all,
                                sigmoid_all,
                                tanh_all,
                                gru_gates,
                                window_attention,
                                kv_attention,
                                rope,
                                silu_gate,
                                gelu_gate,
                                add,
                                scale,
                                all_finite,
                                to_fp16,
                                from_fp16,
                                stream_read};

}  // namespace laya::simd

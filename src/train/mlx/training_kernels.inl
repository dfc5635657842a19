// Included by training_kernels_<isa>.cpp with LAYA_KERNEL_SET defined. Vectors of 16 floats through the
// compiler's vector extension, which it lowers to whatever the file's instruction set has. Includes
// nothing that could emit shared inline code with this file's ISA flags.
#include "train/mlx/training_kernels.h"

namespace laya::train::LAYA_KERNEL_SET {
namespace {

typedef float F __attribute__((vector_size(64)));
typedef std::int32_t I __attribute__((vector_size(64)));
typedef std::uint32_t U __attribute__((vector_size(64)));
typedef std::uint64_t U64 __attribute__((vector_size(64)));
typedef std::uint16_t H __attribute__((vector_size(32)));
typedef float FLoose __attribute__((vector_size(64), aligned(4), may_alias));
typedef std::uint16_t HLoose __attribute__((vector_size(32), aligned(2), may_alias));
constexpr std::size_t kLanes = 16;

#define LAYA_INLINE inline __attribute__((always_inline))

LAYA_INLINE F load(const float* p) { return *reinterpret_cast<const FLoose*>(p); }
LAYA_INLINE void store(float* p, F v) { *reinterpret_cast<FLoose*>(p) = v; }
LAYA_INLINE F splat(float x) { return F{} + x; }
LAYA_INLINE F load(const BFloat16* p) {
  const U wide = __builtin_convertvector(static_cast<H>(*reinterpret_cast<const HLoose*>(p)), U);
  return reinterpret_cast<F>(wide << 16);
}
LAYA_INLINE void store(BFloat16* p, F v) {
  const U bits = reinterpret_cast<U>(v);
  U rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  rounded = v == v ? rounded : U{} + 0x7FC0U;  // a NaN must stay one
  *reinterpret_cast<HLoose*>(p) = __builtin_convertvector(rounded, H);
}
LAYA_INLINE BFloat16 to_scalar(float x, const BFloat16*) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (x != x) return 0x7FC0U;
  return static_cast<BFloat16>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}
LAYA_INLINE float to_scalar(float x, const float*) { return x; }

LAYA_INLINE F max(F a, F b) { return a > b ? a : b; }
LAYA_INLINE F min(F a, F b) { return a < b ? a : b; }

LAYA_INLINE float sum_lanes(F v) {
  v += __builtin_shuffle(v, I{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7});
  v += __builtin_shuffle(v, I{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11});
  v += __builtin_shuffle(v, I{2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13});
  return v[0] + v[1];
}
LAYA_INLINE float max_lanes(F v) {
  float best = v[0];
  for (std::size_t i = 1; i < kLanes; ++i) best = v[i] > best ? v[i] : best;
  return best;
}

// e^x by range reduction to [-ln2/2, ln2/2] and a degree-6 polynomial (Cephes expf); relative error
// below 2e-7. Clamped, so that neither infinity nor a denormal comes out.
LAYA_INLINE F exp(F x) {
  x = min(max(x, splat(-87.0F)), splat(88.0F));
  const F shifted =
      x * 1.44269504088896341F + 12582912.0F;  // 1.5 * 2^23: rounds to the nearest integer
  const F n = shifted - 12582912.0F;
  const F r = x - n * 0.693359375F + n * 2.12194440e-4F;
  F p = splat(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const I exponent = reinterpret_cast<I>(shifted) << 23;
  return reinterpret_cast<F>(reinterpret_cast<I>(p) + exponent);
}
LAYA_INLINE F sigmoid(F x) { return 1.0F / (1.0F + exp(-x)); }
LAYA_INLINE F tanh(F x) { return 1.0F - 2.0F / (1.0F + exp(2.0F * x)); }

template <typename T>
void convert(const float* src, T* dst, std::size_t n) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(dst + i, load(src + i));
  for (; i < n; ++i) dst[i] = to_scalar(src[i], dst);
}

template <typename T>
void convert_and_sum(const float* src, T* dst, std::size_t rows, std::size_t cols, float* sums) {
  for (std::size_t row = 0; row < rows; ++row, src += cols, dst += cols) {
    std::size_t i = 0;
    for (; i + kLanes <= cols; i += kLanes) {
      const F v = load(src + i);
      store(dst + i, v);
      store(sums + i, load(sums + i) + v);
    }
    for (; i < cols; ++i) {
      dst[i] = to_scalar(src[i], dst);
      sums[i] += src[i];
    }
  }
}

template <typename T>
void gru_forward(const float* gi, const float* gh, const float* bias, const float* previous,
                 std::size_t d, float* h, T* operand, T* saved) {
  for (std::size_t i = 0; i < d; i += kLanes) {
    const F r = sigmoid(load(gi + i) + load(gh + i) + load(bias + i));
    const F z = sigmoid(load(gi + d + i) + load(gh + d + i) + load(bias + d + i));
    const F gh_n = load(gh + 2 * d + i) + load(bias + 2 * d + i);
    const F c = tanh(load(gi + 2 * d + i) + r * gh_n);
    const F out = c + z * (load(previous + i) - c);
    store(h + i, out);
    store(operand + i, out);
    store(saved + i, r);
    store(saved + d + i, z);
    store(saved + 2 * d + i, c);
    store(saved + 3 * d + i, gh_n);
  }
}

template <typename T>
void gru_backward(const float* dh, const T* saved, const float* previous, std::size_t d, float* dgi,
                  T* dgh, float* carry, float* dbias) {
  for (std::size_t i = 0; i < d; i += kLanes) {
    const F r = load(saved + i);
    const F z = load(saved + d + i);
    const F c = load(saved + 2 * d + i);
    const F gh_n = load(saved + 3 * d + i);
    const F g = load(dh + i) + load(carry + i);
    const F dz = g * (load(previous + i) - c) * z * (1.0F - z);
    const F dc = g * (1.0F - z) * (1.0F - c * c);
    const F dr = dc * gh_n * r * (1.0F - r);
    const F dn = dc * r;
    store(dgi + i, dr);
    store(dgi + d + i, dz);
    store(dgi + 2 * d + i, dc);
    store(dgh + i, dr);
    store(dgh + d + i, dz);
    store(dgh + 2 * d + i, dn);
    store(carry + i, g * z);
    store(dbias + i, load(dbias + i) + dr);
    store(dbias + d + i, load(dbias + d + i) + dz);
    store(dbias + 2 * d + i, load(dbias + 2 * d + i) + dn);
  }
}

LAYA_INLINE float biased_max(float* logits, const float* bias, std::size_t n) {
  F top = splat(-3.0e38F);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const F v = load(logits + i) + load(bias + i);
    store(logits + i, v);
    top = max(top, v);
  }
  return max_lanes(top);
}

// ln x for a positive normal x: exponent + atanh series would need libm; the compiler's builtin
// calls libm, which is fine per row.
LAYA_INLINE float log_scalar(float x) { return __builtin_logf(x); }

float log_sum_exp(float* logits, const float* bias, std::size_t n) {
  const float top = biased_max(logits, bias, n);
  F sum = splat(0.0F);
  for (std::size_t i = 0; i < n; i += kLanes) sum += exp(load(logits + i) - top);
  return top + log_scalar(sum_lanes(sum));
}

template <typename T>
float softmax(float* logits, const float* bias, std::size_t n, std::size_t target, float own,
              float weight, T* grad, float* dbias) {
  logits[target] += own;
  const float top = biased_max(logits, bias, n);
  const float hit = logits[target];
  F sum = splat(0.0F);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const F e = exp(load(logits + i) - top);
    store(logits + i, e);
    sum += e;
  }
  const float total = sum_lanes(sum);
  const float factor = weight / total;
  for (std::size_t i = 0; i < n; i += kLanes) {
    const F g = load(logits + i) * factor;
    store(grad + i, g);
    store(dbias + i, load(dbias + i) + g);
  }
  grad[target] = to_scalar(logits[target] * factor - weight, grad);
  dbias[target] -= weight;
  return top + log_scalar(total) - hit;
}

float rms_norm(const float* x, const float* delta, const float* weight, std::size_t d, float eps,
               float* sum, float* normed) {
  F squares = splat(0.0F);
  const float* row = x;
  if (delta != nullptr) {
    for (std::size_t i = 0; i < d; i += kLanes) {
      const F v = load(x + i) + load(delta + i);
      store(sum + i, v);
      squares += v * v;
    }
    row = sum;
  } else {
    for (std::size_t i = 0; i < d; i += kLanes) {
      const F v = load(x + i);
      squares += v * v;
    }
  }
  const float inverse = 1.0F / __builtin_sqrtf(sum_lanes(squares) / static_cast<float>(d) + eps);
  for (std::size_t i = 0; i < d; i += kLanes)
    store(normed + i, load(row + i) * inverse * load(weight + i));
  return inverse;
}

void rms_norm_backward(const float* dnormed, const float* dsum, const float* x, const float* weight,
                       float inverse, std::size_t d, float* dx, float* dweight) {
  F dot = splat(0.0F);
  for (std::size_t i = 0; i < d; i += kLanes) {
    const F g = load(dnormed + i);
    const F v = load(x + i);
    dot += g * load(weight + i) * v;
    store(dweight + i, load(dweight + i) + g * v * inverse);
  }
  const float back = sum_lanes(dot) / static_cast<float>(d) * inverse * inverse;
  for (std::size_t i = 0; i < d; i += kLanes) {
    F g = inverse * (load(dnormed + i) * load(weight + i) - load(x + i) * back);
    if (dsum != nullptr) g += load(dsum + i);
    store(dx + i, g);
  }
}

constexpr std::size_t kMaxWindow = 64;  // checked by the caller

LAYA_INLINE float dot(const float* a, const float* b, std::size_t k) {
  F sum = load(a) * load(b);
  for (std::size_t i = kLanes; i < k; i += kLanes) sum += load(a + i) * load(b + i);
  return sum_lanes(sum);
}

void attend(const float* q, const float* const* keys, const float* const* values, const float* bias,
            std::size_t count, std::size_t k, float* probabilities, float* out) {
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(k));
  float top = -3.0e38F;
  for (std::size_t j = 0; j < count; ++j) {
    probabilities[j] = dot(q, keys[j], k) * scale + bias[j];
    top = probabilities[j] > top ? probabilities[j] : top;
  }
  float total = 0.0F;
  for (std::size_t j = 0; j < count; ++j) {
    probabilities[j] = exp(splat(probabilities[j] - top))[0];
    total += probabilities[j];
  }
  for (std::size_t j = 0; j < count; ++j) probabilities[j] /= total;
  for (std::size_t i = 0; i < k; i += kLanes) {
    F sum = splat(0.0F);
    for (std::size_t j = 0; j < count; ++j) sum += load(values[j] + i) * probabilities[j];
    store(out + i, sum);
  }
}

void attend_backward(const float* dout, const float* q, const float* const* keys,
                     const float* const* values, const float* probabilities, std::size_t count,
                     std::size_t k, float* dq, float* const* dkeys, float* const* dvalues,
                     float* dbias) {
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(k));
  float dscore[kMaxWindow];
  float mean = 0.0F;
  for (std::size_t j = 0; j < count; ++j) {
    dscore[j] = dot(dout, values[j], k);
    mean += dscore[j] * probabilities[j];
  }
  for (std::size_t j = 0; j < count; ++j) {
    dscore[j] = probabilities[j] * (dscore[j] - mean);
    dbias[j] += dscore[j];
    dscore[j] *= scale;
  }
  for (std::size_t i = 0; i < k; i += kLanes) {
    const F query = load(q + i);
    const F g = load(dout + i);
    F sum = load(dq + i);
    for (std::size_t j = 0; j < count; ++j) {
      sum += load(keys[j] + i) * dscore[j];
      if (dkeys[j] == nullptr) continue;
      store(dkeys[j] + i, load(dkeys[j] + i) + query * dscore[j]);
      store(dvalues[j] + i, load(dvalues[j] + i) + g * probabilities[j]);
    }
    store(dq + i, sum);
  }
}

void add(const float* x, const float* y, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(x + i) + load(y + i));
  for (; i < n; ++i) out[i] = x[i] + y[i];
}

void add_scaled(const float* x, float scale, std::size_t n, float* y) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(y + i) + load(x + i) * scale);
  for (; i < n; ++i) y[i] += x[i] * scale;
}

void scale(const float* x, float factor, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(x + i) * factor);
  for (; i < n; ++i) out[i] = x[i] * factor;
}

// Counter-based random bits: a 32-bit finaliser (Murmur3's) over index and seed, two rounds.
LAYA_INLINE U mix(U x, std::uint32_t key) {
  x ^= key;
  x ^= x >> 16;
  x *= 0x85EBCA6BU;
  x ^= x >> 13;
  x *= 0xC2B2AE35U;
  x ^= x >> 16;
  return x;
}

void dropout(const float* x, std::size_t n, std::uint64_t first, std::uint64_t seed,
             std::uint32_t threshold, float factor, float* out) {
  const auto low = static_cast<std::uint32_t>(seed);
  const auto high = static_cast<std::uint32_t>(seed >> 32);
  const U lanes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  float spare[kLanes];
  for (std::size_t i = 0; i < n; i += kLanes) {
    const std::uint64_t index = first + i;
    const U random = mix(mix(lanes + static_cast<std::uint32_t>(index), low),
                         high + static_cast<std::uint32_t>(index >> 32));
    const F keep = random < threshold ? splat(0.0F) : splat(factor);
    if (i + kLanes <= n) {
      store(out + i, load(x + i) * keep);
    } else {
      store(spare, keep);
      for (std::size_t j = i; j < n; ++j) out[j] = x[j] * spare[j - i];
    }
  }
}

double squared_norm(const float* x, std::size_t n) {
  // Blocks keep the fp32 partial sums short; the total is double.
  double total = 0.0;
  std::size_t i = 0;
  while (i + kLanes <= n) {
    const std::size_t left = n - i;
    const std::size_t end = i + (left < 4096 ? left / kLanes * kLanes : 4096);
    F sum = splat(0.0F);
    for (; i < end; i += kLanes) sum += load(x + i) * load(x + i);
    total += static_cast<double>(sum_lanes(sum));
  }
  for (; i < n; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

LAYA_INLINE F sqrt(F x) {
  F out;
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = __builtin_sqrtf(x[i]);
  return out;
}

void adamw(float* value, float* m, float* v, const float* gradient, std::size_t n,
           const TrainingKernels::AdamW& p) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F g = load(gradient + i) * p.scale;
    const F first = load(m + i) * p.beta1 + g * (1.0F - p.beta1);
    const F second = load(v + i) * p.beta2 + g * g * (1.0F - p.beta2);
    const F w = load(value + i);
    store(m + i, first);
    store(v + i, second);
    store(value + i,
          w - p.rate * (first * p.correction1 / (sqrt(second * p.correction2) + p.epsilon) +
                        p.decay * w));
  }
  for (; i < n; ++i) {
    const float g = gradient[i] * p.scale;
    m[i] = m[i] * p.beta1 + g * (1.0F - p.beta1);
    v[i] = v[i] * p.beta2 + g * g * (1.0F - p.beta2);
    value[i] -=
        p.rate * (m[i] * p.correction1 / (__builtin_sqrtf(v[i] * p.correction2) + p.epsilon) +
                  p.decay * value[i]);
  }
}

template <typename T>
constexpr OperandKernels<T> operand_table() {
  return {convert<T>, convert_and_sum<T>, gru_forward<T>, gru_backward<T>, softmax<T>};
}

constexpr TrainingKernels kTable = {operand_table<float>(),
                                    operand_table<BFloat16>(),
                                    rms_norm,
                                    rms_norm_backward,
                                    attend,
                                    attend_backward,
                                    log_sum_exp,
                                    add,
                                    add_scaled,
                                    scale,
                                    dropout,
                                    squared_norm,
                                    adamw};

}  // namespace

const TrainingKernels& table() { return kTable; }

}  // namespace laya::train::LAYA_KERNEL_SET

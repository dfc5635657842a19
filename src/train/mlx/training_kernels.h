// The trainer's inner loops on one row or one flat range, one thread. One source (training_kernels.inl),
// compiled per instruction set, chosen at run time. Lengths called d, n or k of gate, norm, softmax
// and attention kernels are multiples of 16; others are free.
#pragma once

#include <cstddef>
#include <cstdint>

namespace laya::train {

/// A bfloat16, as its upper 16 bits of a float32.
using BFloat16 = std::uint16_t;

/// Kernels whose low-precision side is T: the type in which matrix products take their operands
/// (float or BFloat16).
template <typename T>
struct OperandKernels {
  /// dst[i] = src[i].
  void (*convert)(const float* src, T* dst, std::size_t n);
  /// The same over rows of `cols`, adding each column's sum to sums[cols].
  void (*convert_and_sum)(const float* src, T* dst, std::size_t rows, std::size_t cols,
                          float* sums);
  /// One row of one GRU step: gi, gh [3d] (gh without bias), bias [3d], previous [d] -> h [d], its
  /// operand copy, saved r,z,c,gh_n [4d].
  void (*gru_forward)(const float* gi, const float* gh, const float* bias, const float* previous,
                      std::size_t d, float* h, T* operand, T* saved);
  /// Its backward: gradient of h = dh + carry [d] -> dgi [3d], dgh [3d] (operand), carry = (dh +
  /// carry) * z: what passes to the step before beside the gates; dbias [3d] += dgh.
  void (*gru_backward)(const float* dh, const T* saved, const float* previous, std::size_t d,
                       float* dgi, T* dgh, float* carry, float* dbias);
  /// Cross-entropy of one row: logits [n] + bias (+ own at the target), returns -log
  /// softmax[target]; grad[i] = weight * (softmax_i - [i == target]), dbias += the same. `logits`
  /// is overwritten. target < n.
  float (*softmax)(float* logits, const float* bias, std::size_t n, std::size_t target, float own,
                   float weight, T* grad, float* dbias);
};

struct TrainingKernels {
  OperandKernels<float> f32;
  OperandKernels<BFloat16> bf16;
  template <typename T>
  const OperandKernels<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return f32;
    } else {
      return bf16;
    }
  }

  /// sum = x + delta (delta may be null: sum is x, not written), normed = sum * inverse rms *
  /// weight. Returns the inverse rms.
  float (*rms_norm)(const float* x, const float* delta, const float* weight, std::size_t d,
                    float eps, float* sum, float* normed);
  /// dx = gradient through the norm (+ dsum unless null); dweight += .
  void (*rms_norm_backward)(const float* dnormed, const float* dsum, const float* x,
                            const float* weight, float inverse, std::size_t d, float* dx,
                            float* dweight);
  /// One head at one position: keys[j], values[j] for j < count; probabilities [count], out [k].
  void (*attend)(const float* q, const float* const* keys, const float* const* values,
                 const float* bias, std::size_t count, std::size_t k, float* probabilities,
                 float* out);
  /// Its backward; dq, dkeys[j], dvalues[j] (null: wanted by nobody) and dbias[count] are added to.
  void (*attend_backward)(const float* dout, const float* q, const float* const* keys,
                          const float* const* values, const float* probabilities, std::size_t count,
                          std::size_t k, float* dq, float* const* dkeys, float* const* dvalues,
                          float* dbias);
  /// log Σ exp(logits + bias); leaves the sum in logits.
  float (*log_sum_exp)(float* logits, const float* bias, std::size_t n);
  void (*add)(const float* x, const float* y, std::size_t n, float* out);
  /// y += x * scale
  void (*add_scaled)(const float* x, float scale, std::size_t n, float* y);
  void (*scale)(const float* x, float factor, std::size_t n, float* out);
  /// out[i] = x[i] * (hash(seed, first + i) < threshold ? 0 : factor)
  void (*dropout)(const float* x, std::size_t n, std::uint64_t first, std::uint64_t seed,
                  std::uint32_t threshold, float factor, float* out);
  double (*squared_norm)(const float* x, std::size_t n);
  struct AdamW {
    float rate, beta1, beta2, epsilon, decay, scale, correction1,
        correction2;  // corrections: 1 / (1 - beta^step)
  };
  void (*adamw)(float* value, float* m, float* v, const float* gradient, std::size_t n,
                const AdamW& p);
};

/// The best set for this CPU. Immutable.
const TrainingKernels& kernels();

namespace base {
const TrainingKernels& table();
}
namespace avx2 {
const TrainingKernels& table();
}
namespace avx512 {
const TrainingKernels& table();
}

}  // namespace laya::train

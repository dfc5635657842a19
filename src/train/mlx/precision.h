// Arithmetic of the trainer's matrix products. No MLX and no oneDNN here, so that every file of the
// room may include it.
#pragma once

namespace laya::train {

/// Operand type of a matrix product; sums are always fp32, weights and activations are always
/// stored as fp32.
enum class Precision {
  Fp32,
  Bf16,  ///< operands rounded to bfloat16 (nearest even) just before the product
};

/// Bf16 where this CPU multiplies bfloat16 natively (AVX-512 BF16 or AMX), else Fp32. Thread safe,
/// cheap.
Precision best_precision();

}  // namespace laya::train

#include "model/gru/rotation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace laya::model {
namespace {

/// Multiplies x (x[0], x[stride], …; `size` of them) by the signs and the normalised Hadamard
/// matrix.
void rotate(float* x, std::size_t size, std::size_t stride) {
  for (std::size_t i = 0; i < size; ++i) {
    // Knuth's multiplicative hash: any fixed, irregular signs will do.
    const bool negative = ((i * 2654435761U >> 13) & 1U) != 0;
    x[i * stride] = negative ? -x[i * stride] : x[i * stride];
  }
  const float half = std::sqrt(0.5F);
  for (std::size_t width = 1; width < size; width *= 2) {  // fast Walsh-Hadamard transform
    for (std::size_t start = 0; start < size; start += 2 * width) {
      for (std::size_t i = start; i < start + width; ++i) {
        const float a = x[i * stride], b = x[(i + width) * stride];
        x[i * stride] = (a + b) * half;
        x[(i + width) * stride] = (a - b) * half;
      }
    }
  }
}

/// For each dimension sqrt(size of y / size of E): with E scaled up and y down by it, the noise of
/// rounding both is least (Cauchy-Schwarz; Nagel et al. 2019 call it cross-layer equalisation). y
/// is guessed from out_proj: its input is normed.
std::vector<float> balance_of(const FloatWeights& weights, std::size_t e) {
  std::vector<double> embedding(e, 1e-12);
  for (std::size_t row = 0; row < weights.embedding.rows; ++row) {
    const std::span<const float> numbers = weights.embedding.row(row);
    for (std::size_t i = 0; i < e; ++i) {
      embedding[i] += static_cast<double>(numbers[i]) * numbers[i];
    }
  }
  std::vector<float> balance(e);
  for (std::size_t i = 0; i < e; ++i) {
    double y = 1e-12;
    const std::span<const float> numbers = weights.out_proj.row(i);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const double weight = static_cast<double>(numbers[k]) * weights.final_norm[k];
      y += weight * weight;
    }
    const double rows = static_cast<double>(weights.embedding.rows);
    balance[i] = static_cast<float>(std::sqrt(std::sqrt(y / (embedding[i] / rows))));
  }
  // Only ratios matter. A dimension that one side hardly uses must not blow up the other side's
  // numbers.
  double logarithms = 0;
  for (const float value : balance) {
    logarithms += std::log(value);
  }
  const auto middle = static_cast<float>(std::exp(logarithms / static_cast<double>(e)));
  for (float& value : balance) {
    value = std::clamp(value / middle, 0.25F, 4.0F);
  }
  return balance;
}

}  // namespace

OwnedFloatWeights rotated_embedding(const GruConfig& config, const FloatWeights& weights) {
  OwnedFloatWeights owned;
  owned.weights = weights;
  const std::size_t e = config.embedding_dim;
  if (!std::has_single_bit(e)) {
    return owned;
  }
  const auto copy = [&](FloatMatrix& matrix) {
    std::vector<float>& numbers =
        owned.storage.emplace_back(matrix.data.begin(), matrix.data.end());
    matrix.data = numbers;
    return numbers.data();
  };
  const std::vector<float> balance = balance_of(weights, e);
  for (FloatMatrix* by_rows : {&owned.weights.embedding, &owned.weights.in_proj}) {  // [*, e]
    float* numbers = copy(*by_rows);
    for (std::size_t row = 0; row < by_rows->rows; ++row) {
      for (std::size_t i = 0; i < e; ++i) {
        float& number = numbers[row * e + i];
        number = by_rows == &owned.weights.embedding ? number * balance[i] : number / balance[i];
      }
      rotate(numbers + row * e, e, 1);
    }
  }
  float* out_proj = copy(owned.weights.out_proj);  // [e, d]
  for (std::size_t column = 0; column < config.hidden_dim; ++column) {
    for (std::size_t i = 0; i < e; ++i) {
      out_proj[i * config.hidden_dim + column] /= balance[i];
    }
    rotate(out_proj + column, e, config.hidden_dim);
  }
  return owned;
}

}  // namespace laya::model

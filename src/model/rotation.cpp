#include "model/rotation.h"

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
  for (FloatMatrix* by_rows : {&owned.weights.embedding, &owned.weights.in_proj}) {  // [*, e]
    float* numbers = copy(*by_rows);
    for (std::size_t row = 0; row < by_rows->rows; ++row) {
      rotate(numbers + row * e, e, 1);
    }
  }
  float* out_proj = copy(owned.weights.out_proj);  // [e, d]
  for (std::size_t column = 0; column < config.hidden_dim; ++column) {
    rotate(out_proj + column, e, config.hidden_dim);
  }
  return owned;
}

}  // namespace laya::model

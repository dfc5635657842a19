#include "convert/convert_quantise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "simd/float16.h"
#include "simd/packing.h"

namespace laya::convert {
namespace {

using model::AlignedBytes;
using model::Precision;
using simd::Minima;

constexpr std::size_t kMaxGroup = 128;
constexpr int kMaxCode = 15;

// Share of the mean second moment that is added to each: text for calibration is short, and
// directions that it never showed must not look free. 1 % is the paper's choice for 128 × 2,048
// tokens; with 1,000 tokens 5 % gave the lower divergence on other text (Gemma 3 270M).
constexpr double kDamping = 0.05;

/// Scale and minimum of a group (as fp16 has them) and the weight of code 0.
struct GroupFit {
  std::uint16_t scale_bits = 0, minimum_bits = 0;
  float scale = 0, base = 0;
};

GroupFit rounded(float scale, float base, Minima minima) {
  GroupFit fit;
  fit.scale_bits = simd::fp16_from_float(scale);
  fit.scale = simd::float_from_fp16(fit.scale_bits);
  if (minima == Minima::PerGroup) {
    fit.minimum_bits = simd::fp16_from_float(base);
    fit.base = simd::float_from_fp16(fit.minimum_bits);
  } else {
    fit.base = -fit.scale * simd::kCentreInt4;
  }
  return fit;
}

int code_of(float weight, const GroupFit& fit) {
  if (fit.scale == 0.0F) return simd::kCentreInt4;
  const float code = std::nearbyint((weight - fit.base) / fit.scale);
  return static_cast<int>(std::clamp(code, 0.0F, static_cast<float>(kMaxCode)));
}

double error_of(std::span<const float> weights, std::span<const float> importance,
                const GroupFit& fit) {
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float off =
        fit.base + fit.scale * static_cast<float>(code_of(weights[i], fit)) - weights[i];
    total += static_cast<double>(importance[i]) * off * off;
  }
  return total;
}

/// The line through the codes that `fit` gives with the least weighted error.
GroupFit refitted(std::span<const float> weights, std::span<const float> importance,
                  const GroupFit& fit, Minima minima) {
  double sum = 0, sum_c = 0, sum_cc = 0, sum_w = 0, sum_cw = 0;
  const int centre = minima == Minima::PerGroup ? 0 : simd::kCentreInt4;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double h = importance[i], c = code_of(weights[i], fit) - centre, w = weights[i];
    sum += h;
    sum_c += h * c;
    sum_cc += h * c * c;
    sum_w += h * w;
    sum_cw += h * c * w;
  }
  if (minima == Minima::None) {
    return sum_cc > 0 ? rounded(static_cast<float>(sum_cw / sum_cc), 0, minima) : fit;
  }
  const double determinant = sum * sum_cc - sum_c * sum_c;
  if (!(determinant > 1e-12 * sum * sum_cc)) return fit;
  const double scale = (sum * sum_cw - sum_c * sum_w) / determinant;
  return rounded(static_cast<float>(scale), static_cast<float>((sum_w - scale * sum_c) / sum),
                 minima);
}

GroupFit best_fit(std::span<const float> weights, std::span<const float> importance,
                  Minima minima) {
  const auto [low, high] = std::ranges::minmax(weights);
  const float extent = std::max(std::abs(low), std::abs(high));
  // The end that is further from zero gets code 0, which reaches one step further than 15.
  const float sign = std::abs(low) >= std::abs(high) ? 1.0F : -1.0F;
  GroupFit best;
  double best_error = -1;
  for (int step = 0; step < 8; ++step) {  // clipping the range by up to 28 %
    const float keep = 1.0F - 0.04F * static_cast<float>(step);
    GroupFit fit = minima == Minima::PerGroup
                       ? rounded((high - low) * keep / kMaxCode,
                                 0.5F * (low + high) - 0.5F * (high - low) * keep, minima)
                       : rounded(sign * extent * keep / simd::kCentreInt4, 0, minima);
    fit = refitted(weights, importance, fit, minima);
    const double error = error_of(weights, importance, fit);
    if (best_error < 0 || error < best_error) {
      best = fit;
      best_error = error;
    }
  }
  return best;
}

/// One row: `weights` become what the codes stand for.
void quantise_row(const InputMoments& inputs, const Precision& precision, std::span<float> weights,
                  std::span<std::uint8_t> codes, std::span<std::uint16_t> scales,
                  std::span<std::uint16_t> minima) {
  const std::size_t group = precision.group;
  for (std::size_t first = 0; first < weights.size(); first += group) {
    const GroupFit fit = best_fit(weights.subspan(first, group),
                                  inputs.weight().subspan(first, group), precision.minima);
    scales[first / group] = fit.scale_bits;
    if (!minima.empty()) minima[first / group] = fit.minimum_bits;
    for (std::size_t j = first; j < first + group; ++j) {
      const int code = code_of(weights[j], fit);
      codes[j] = static_cast<std::uint8_t>(code);
      const float is = fit.base + fit.scale * static_cast<float>(code);
      const std::span<const float> factor = inputs.factor(j);
      if (!factor.empty()) {
        const float error = (weights[j] - is) / factor[0];
        float* later = &weights[j];
        for (std::size_t k = 1; k < factor.size(); ++k) later[k] -= error * factor[k];
      }
      weights[j] = is;
    }
  }
}

}  // namespace

InputMoments::InputMoments(std::span<const float> inputs, std::size_t cols, simd::ThreadPool& pool)
    : weight_(cols) {
  const std::size_t tokens = inputs.size() / cols;
  for (std::size_t t = 0; t < tokens; ++t) {
    for (std::size_t j = 0; j < cols; ++j) {
      const float x = inputs[t * cols + j];
      weight_[j] += x * x / static_cast<float>(tokens);
    }
  }
  double mean = 0;
  for (const float w : weight_) mean += w / static_cast<double>(cols);
  const auto floor = static_cast<float>(std::max(mean * 1e-3, 1e-30));
  for (float& w : weight_) w = std::max(w, floor);
  if (cols > kMaxCorrelated) return;
  std::vector<double> moments(cols * cols);
  pool.run(cols, [&](std::size_t i) {
    std::vector<float> row(cols);
    for (std::size_t t = 0; t < tokens; ++t) {
      const float x = inputs[t * cols + i] / static_cast<float>(tokens);
      const float* all = &inputs[t * cols];
      for (std::size_t j = i; j < cols; ++j) row[j] += x * all[j];
    }
    for (std::size_t j = i; j < cols; ++j) moments[i * cols + j] = moments[j * cols + i] = row[j];
    moments[i * cols + i] += mean * kDamping + 1e-30;
  });
  factorise(std::move(moments));
}

/// H = MMᵀ with M upper triangular, from the last column to the first; then U = M⁻¹, since H⁻¹ =
/// (M⁻¹)ᵀM⁻¹.
void InputMoments::factorise(std::vector<double> h) {
  const std::size_t n = cols();
  std::vector<double> column(n);
  for (std::size_t j = n; j-- > 0;) {
    const double root = std::sqrt(std::max(h[j * n + j], 1e-30));
    for (std::size_t i = 0; i <= j; ++i) column[i] = h[i * n + j] /= root;
    // Rank-one update of what is left, by rows, so that memory is walked in order.
    for (std::size_t i = 0; i < j; ++i) {
      const double m = column[i];
      for (std::size_t k = i; k < j; ++k) h[i * n + k] -= m * column[k];
    }
  }
  // Row i of U: U_ii = 1 / M_ii; U_ij = −(Σ_{i≤k<j} U_ik M_kj) / M_jj.
  factor_.assign(n * n, 0.0F);
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    // Forward by columns: after column k is known, its share goes into all later sums.
    std::vector<double> sums(n, 0.0);
    for (std::size_t j = i; j < n; ++j) {
      row[j] = (j == i ? 1.0 : -sums[j]) / h[j * n + j];
      const double u = row[j];
      for (std::size_t k = j + 1; k < n; ++k) sums[k] += u * h[j * n + k];
    }
    for (std::size_t j = i; j < n; ++j) factor_[i * n + j] = static_cast<float>(row[j]);
    weight_[i] = static_cast<float>(1.0 / (row[i] * row[i]));
  }
}

Result<AlignedBytes> quantise_for(const InputMoments& inputs, const Precision& precision,
                                  std::size_t rows, std::span<float> weights,
                                  simd::ThreadPool& pool) {
  const std::size_t cols = inputs.cols(), groups = cols / precision.group;
  const simd::PackedShape shape{rows, cols, precision.type, precision.group, precision.minima};
  if (auto status = simd::check_shape(shape); !status) return status.error();
  if (precision.type != simd::WeightType::Int4 || cols % precision.group != 0 ||
      weights.size() != rows * cols) {
    return Error{ErrorCode::BadArgument, "quantising: int4 and whole groups are needed"};
  }
  std::vector<std::uint8_t> codes(rows * cols);
  std::vector<std::uint16_t> scales(rows * groups);
  std::vector<std::uint16_t> minima(precision.minima == Minima::PerGroup ? rows * groups : 0);
  pool.run(rows, [&](std::size_t r) {
    quantise_row(inputs, precision, weights.subspan(r * cols, cols),
                 std::span(codes).subspan(r * cols, cols),
                 std::span(scales).subspan(r * groups, groups),
                 minima.empty() ? std::span<std::uint16_t>()
                                : std::span(minima).subspan(r * groups, groups));
  });
  AlignedBytes bytes(simd::packed_size_bytes(shape));
  if (auto status = simd::pack_codes(shape, {scales, minima, codes}, bytes.bytes()); !status) {
    return status.error();
  }
  return bytes;
}

}  // namespace laya::convert

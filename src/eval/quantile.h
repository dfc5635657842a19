// Quantiles of measured times.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace laya::eval {

/// The value that a share `q` (0…1) of `values` does not exceed (nearest rank); 0 for none. Orders
/// `values` anew.
template <typename T>
double quantile(std::vector<T>& values, double q) {
  if (values.empty()) {
    return 0;
  }
  const double rank = std::ceil(q * static_cast<double>(values.size())) - 1;
  const auto at =
      static_cast<std::ptrdiff_t>(std::clamp(rank, 0.0, static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(at)]);
}

}  // namespace laya::eval

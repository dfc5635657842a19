#include "eval/interval.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace laya::eval {
namespace {

constexpr double kZ = 1.959963984540054;  // of the normal distribution, 97.5 %
constexpr std::uint64_t kSeed = 20240229;

double share_of(const Part& sum) { return sum.below == 0 ? 0 : sum.above / sum.below; }

// The middle 95 % of what `statistic` gives for parts drawn with replacement. std::mt19937_64 is
// the same everywhere, std::uniform_int_distribution is not: so the index is a product (Lemire).
template <typename Statistic>
Interval resampled(std::size_t parts, std::size_t resamples, const Statistic& statistic) {
  if (parts == 0 || resamples == 0) {
    return {};
  }
  std::mt19937_64 random(kSeed);
  std::vector<std::size_t> drawn(parts);
  std::vector<double> values(resamples);
  for (double& value : values) {
    for (std::size_t& index : drawn) {
      index = static_cast<std::size_t>(((random() >> 32) * parts) >> 32);
    }
    value = statistic(drawn);
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(resamples - 1)))];
  };
  return {at(0.025), at(0.975)};
}

Part sum_of(std::span<const Part> parts, const std::vector<std::size_t>& drawn) {
  Part sum;
  for (const std::size_t index : drawn) {
    sum.above += parts[index].above;
    sum.below += parts[index].below;
  }
  return sum;
}

}  // namespace

Interval wilson(std::uint64_t hits, std::uint64_t trials) {
  if (trials == 0) {
    return {0, 1};
  }
  const double n = static_cast<double>(trials);
  const double share = static_cast<double>(std::min(hits, trials)) / n;
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double reach =
      kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, middle - reach), std::min(1.0, middle + reach)};
}

double ratio(std::span<const Part> parts) {
  Part sum;
  for (const Part& part : parts) {
    sum.above += part.above;
    sum.below += part.below;
  }
  return share_of(sum);
}

Interval bootstrap(std::span<const Part> parts, std::size_t resamples) {
  return resampled(parts.size(), resamples, [&](const std::vector<std::size_t>& drawn) {
    return share_of(sum_of(parts, drawn));
  });
}

Interval bootstrap_difference(std::span<const Part> a, std::span<const Part> b,
                              std::size_t resamples) {
  return resampled(std::min(a.size(), b.size()), resamples,
                   [&](const std::vector<std::size_t>& drawn) {
                     return share_of(sum_of(a, drawn)) - share_of(sum_of(b, drawn));
                   });
}

}  // namespace laya::eval

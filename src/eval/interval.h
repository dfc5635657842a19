// 95 % confidence intervals: how far a figure would move on other text of the same kind.
//
// Pure functions, thread-safe, the same result on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace laya::eval {

/// The middle 95 %. What has no data has {0, 1} (shares) or {0, 0} (ratios).
struct Interval {
  double low = 0;
  double high = 0;
};

/// Of a share `hits` / `trials` of independent trials (a sentence right or wrong): Wilson's score
/// interval, which holds for few trials and for shares near 0 and 1 too (E. B. Wilson, JASA 1927).
/// {0, 1} for no trials.
Interval wilson(std::uint64_t hits, std::uint64_t trials);

/// What one independent piece of text (a line, a dialogue) gives to a ratio of sums.
struct Part {
  double above = 0;  ///< e.g. keys saved in this line
  double below = 0;  ///< e.g. keys of this line
};

/// sum(above) / sum(below); 0 where there is nothing below.
double ratio(std::span<const Part> parts);

inline constexpr std::size_t kResamples = 1000;

/// Of sum(above) / sum(below): percentile bootstrap over the parts, so words of one line, which are
/// no independent trials, count as one (Efron, Tibshirani 1993). Fixed seed; O(resamples · parts).
Interval bootstrap(std::span<const Part> parts, std::size_t resamples = kResamples);

/// Of ratio(a) − ratio(b) where a[i] and b[i] are two systems on the same piece of text: both are
/// drawn together, which takes away what the text itself varies. `a` and `b` of one length (the
/// shorter counts).
Interval bootstrap_difference(std::span<const Part> a, std::span<const Part> b,
                              std::size_t resamples = kResamples);

}  // namespace laya::eval

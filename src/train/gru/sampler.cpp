#include "train/gru/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace laya::train {
namespace {

// Half a count for everybody: a class that the sample of the corpus missed must still be drawable,
// or its gradient would be biased.
std::vector<double> normalised(std::span<const double> counts, double power) {
  std::vector<double> p;
  p.reserve(counts.size());
  for (const double count : counts) p.push_back(std::pow(std::max(count, 0.0) + 0.5, power));
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= total;
  return p;
}

// 53 random bits in [0,1): the same on every standard library, unlike
// std::uniform_real_distribution.
double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1.0p-53; }

}  // namespace

CandidateSampler::CandidateSampler(std::span<const double> unigram, std::size_t draws, double power,
                                   std::size_t padding)
    : draws_(draws), padding_(std::max<std::size_t>(padding, 1)) {
  const auto q = normalised(unigram, power);
  const auto p = normalised(unigram, 1.0);
  cumulative_.resize(q.size());
  std::partial_sum(q.begin(), q.end(), cumulative_.begin());
  for (const double x : q) log_miss_.push_back(std::log1p(-std::min(x, 1.0 - 1e-12)));
  for (const double x : p) log_other_.push_back(std::log1p(-std::min(x, 1.0 - 1e-12)));
}

CandidateSet CandidateSampler::sample(std::span<const std::int32_t> targets,
                                      std::uint64_t seed) const {
  const std::size_t vocabulary = cumulative_.size();
  std::vector<char> chosen(vocabulary, draws_ >= vocabulary ? 1 : 0);
  std::size_t tokens = 0;
  for (const std::int32_t id : targets) {
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary) continue;
    chosen[static_cast<std::size_t>(id)] = 1;
    ++tokens;
  }
  if (draws_ < vocabulary) {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < draws_; ++i) {
      const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end(), unit(random)) -
                      cumulative_.begin();
      chosen[std::min(static_cast<std::size_t>(at), vocabulary - 1)] = 1;
    }
  }
  CandidateSet set;
  for (std::size_t id = 0; id < vocabulary; ++id) {
    if (chosen[id] == 0) continue;
    set.ids.push_back(static_cast<std::int32_t>(id));
    const double log_absent =
        static_cast<double>(draws_) * log_miss_[id] + static_cast<double>(tokens) * log_other_[id];
    const double log_present = draws_ >= vocabulary ? 0.0 : std::log(-std::expm1(log_absent));
    set.log_inclusion.push_back(static_cast<float>(log_present));
  }
  const std::size_t size = (set.ids.size() + padding_ - 1) / padding_ * padding_;
  set.ids.resize(size, -1);
  set.log_inclusion.resize(size, 0.0F);
  return set;
}

}  // namespace laya::train

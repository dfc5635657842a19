// Classes for the sampled softmax head: the batch's own targets and S draws from a fixed
// distribution, with the probability of each class of being in the set, which makes the sampled
// partition sum unbiased (Horvitz-Thompson).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace laya::train {

struct CandidateSet {
  std::vector<std::int32_t> ids;  ///< distinct, ascending, then -1 up to a multiple of the padding
  std::vector<float> log_inclusion;  ///< as long as ids; 0 for padding
};

/// Immutable after construction; sample() may run on any thread.
class CandidateSampler {
 public:
  /// `unigram`: how often each class is a target (any positive scale; all zero counts as uniform).
  /// Draws follow unigram^power, smoothed so that no class has probability 0. draws >= V: every
  /// class, certain. `padding`: sizes are rounded up to it (few distinct matrix shapes).
  CandidateSampler(std::span<const double> unigram, std::size_t draws, double power = 0.75,
                   std::size_t padding = 256);

  /// The set for one batch. The same seed and targets give the same set. Targets outside [0,V) are
  /// ignored.
  CandidateSet sample(std::span<const std::int32_t> targets, std::uint64_t seed) const;

 private:
  std::vector<double> cumulative_;  // of the draw distribution
  std::vector<double> log_miss_;    // log(1 - q_i), one draw
  std::vector<double> log_other_;   // log(1 - p_i), one target
  std::size_t draws_;
  std::size_t padding_;
};

}  // namespace laya::train

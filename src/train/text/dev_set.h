// Dev text, sampled once, and how well a model predicts it: bits per character per source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/text/batcher.h"
#include "train/text/corpus.h"

namespace laya::train {

/// One source's dev lines, as ids; each ends with kNewlineId.
struct DevSource {
  std::string name;
  double share = 0.0;  ///< of the mixture; weighs the mean
  std::vector<std::vector<std::uint16_t>> lines;
  std::uint64_t characters = 0;  ///< Unicode code points of these lines, one newline each included
};

struct DevScore {
  std::string name;
  double bits_per_character = 0.0;
  std::uint64_t characters = 0;
};

struct DevReport {
  std::vector<DevScore> sources;
  double mean = 0.0;  ///< weighted by the sources' shares of the mixture
};

/// -log p in nats for each element of a batch from the zero state; padding (target -1) may hold
/// anything.
using BatchScorer = std::function<Result<std::vector<float>>(const Batch&)>;

/// Each line is scored by itself from BOS, as typed into an empty field, its newline included.
class DevSet {
 public:
  /// Lines longer than this (in tokens) are left out: they would pad every batch.
  static constexpr std::size_t kMaxLineTokens = 256;

  /// Takes up to `max_lines` lines of `text`, evenly spread. Nothing happens for a text without
  /// usable lines.
  void add(std::string name, double share, std::string_view text, const LineEncoder& encoder,
           std::size_t max_lines);

  /// Scores all lines in batches of `lanes`, similar lengths together. Errors are the scorer's;
  /// Internal on NaN.
  Result<DevReport> evaluate(const BatchScorer& scorer, std::uint32_t lanes) const;

  const std::vector<DevSource>& sources() const { return sources_; }
  std::uint64_t tokens() const;

 private:
  std::vector<DevSource> sources_;
};

}  // namespace laya::train

// Turns corpora into the endless stream of batches that training reads: B lanes of text, T tokens
// at a time.
//
// Each lane reads one unit (document) after another; the next unit is drawn from the sources by
// their shares, and within a source from a shuffled order that is shuffled anew each time it runs
// out, so that no source is ever exhausted. A document starts with BOS; with the source's
// probability it is cut into single lines, each starting with BOS, because people type single
// messages into empty fields. Same corpora, mixture and seed: same batches, on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/token_id.h"
#include "train/text/corpus.h"
#include "train/text/random.h"

namespace laya::train {

/// One source as the batcher sees it. The corpus must outlive the batcher.
struct BatchSource {
  const Corpus* corpus = nullptr;
  double share = 0.0;        ///< of all tokens; relative to the others'
  double split_lines = 0.5;  ///< probability that a unit is cut into single lines
};

/// Time-major [T, B]: element t·B + b. `targets[i]` is the token after `inputs[i]` in its lane; it
/// is never BOS. An input of BOS resets its lane's state.
struct Batch {
  std::uint32_t steps = 0;  ///< T
  std::uint32_t lanes = 0;  ///< B
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> targets;
};

/// Where one lane stands.
struct LanePosition {
  std::uint32_t source = 0;
  std::uint32_t unit = 0;
  std::uint32_t offset = 0;    ///< of the next target within the unit
  std::uint16_t previous = 0;  ///< the next input
  std::uint8_t split = 0;      ///< 1: this unit is cut into lines
  std::uint8_t active = 0;     ///< 0: draws a unit first
  bool operator==(const LanePosition&) const = default;
};

/// Where one source stands.
struct SourcePosition {
  std::uint64_t epoch = 0;   ///< times its order has been shuffled
  std::uint64_t cursor = 0;  ///< units of this epoch already drawn
  std::uint64_t tokens = 0;  ///< tokens given out so far
  bool operator==(const SourcePosition&) const = default;
};

/// Everything a Batcher needs to go on as if it had never stopped.
struct BatchPosition {
  std::uint64_t random_state = 0;
  std::vector<LanePosition> lanes;
  std::vector<SourcePosition> sources;
  bool operator==(const BatchPosition&) const = default;
};

/// One thread.
class Batcher {
 public:
  /// BadArgument: no lanes, no source with a share above 0.
  static Result<Batcher> create(std::vector<BatchSource> sources, std::uint32_t lanes,
                                std::uint64_t seed);

  /// Fills `batch` with the next `steps` tokens of each lane.
  void next(std::uint32_t steps, Batch& batch);

  BatchPosition position() const;
  /// Goes to a position of a batcher with the same sources, lanes and seed. BadArgument when its
  /// counts do not fit these.
  Status restore(const BatchPosition& position);

  /// Tokens given out per source.
  std::vector<std::uint64_t> tokens_per_source() const;

 private:
  Batcher(std::vector<BatchSource> sources, std::uint32_t lanes, std::uint64_t seed);
  void shuffle(std::size_t source);
  void draw_unit(LanePosition& lane);

  std::vector<BatchSource> sources_;
  std::vector<double> cumulative_;  ///< probability that the next unit comes from source ≤ i
  std::vector<std::vector<std::uint32_t>> order_;
  std::vector<SourcePosition> source_positions_;
  std::vector<LanePosition> lanes_;
  std::uint64_t seed_;
  Random random_;
};

}  // namespace laya::train

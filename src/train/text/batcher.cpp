#include "train/text/batcher.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace laya::train {

Result<Batcher> Batcher::create(std::vector<BatchSource> sources, std::uint32_t lanes,
                                std::uint64_t seed) {
  if (lanes == 0) return Error{ErrorCode::BadArgument, "batch: lanes must be at least 1"};
  const bool any = std::any_of(sources.begin(), sources.end(),
                               [](const BatchSource& s) { return s.share > 0.0; });
  if (!any) return Error{ErrorCode::BadArgument, "batch: no source has a share above 0"};
  return Batcher(std::move(sources), lanes, seed);
}

Batcher::Batcher(std::vector<BatchSource> sources, std::uint32_t lanes, std::uint64_t seed)
    : sources_(std::move(sources)),
      order_(sources_.size()),
      source_positions_(sources_.size()),
      lanes_(lanes),
      seed_(seed),
      random_(Random::derive(seed, 0, 0)) {
  // Units differ in length between sources, so a source's chance per draw is its share of tokens
  // over its mean unit.
  double total = 0.0;
  for (const BatchSource& source : sources_) {
    const double mean = static_cast<double>(source.corpus->tokens().size()) /
                        static_cast<double>(source.corpus->unit_count());
    total += source.share / mean;
    cumulative_.push_back(total);
  }
  for (double& value : cumulative_) value /= total;
  for (std::size_t i = 0; i < sources_.size(); ++i) shuffle(i);
}

// The order depends on (seed, source, epoch) alone, so a position needs no list of units.
void Batcher::shuffle(std::size_t source) {
  std::vector<std::uint32_t>& order = order_[source];
  order.resize(sources_[source].corpus->unit_count());
  std::iota(order.begin(), order.end(), 0U);
  Random random(Random::derive(seed_, source + 1, source_positions_[source].epoch));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
}

void Batcher::draw_unit(LanePosition& lane) {
  const double point = random_.uniform();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), point);
  const std::size_t source =
      std::min<std::size_t>(found - cumulative_.begin(), sources_.size() - 1);
  SourcePosition& position = source_positions_[source];
  if (position.cursor == order_[source].size()) {
    ++position.epoch;
    position.cursor = 0;
    shuffle(source);
  }
  lane.source = static_cast<std::uint32_t>(source);
  lane.unit = order_[source][position.cursor++];
  lane.offset = 0;
  lane.previous = static_cast<std::uint16_t>(kBeginId);
  lane.split = random_.uniform() < sources_[source].split_lines ? 1 : 0;
  lane.active = 1;
}

void Batcher::next(std::uint32_t steps, Batch& batch) {
  const std::size_t width = lanes_.size();
  batch.steps = steps;
  batch.lanes = static_cast<std::uint32_t>(width);
  batch.inputs.resize(steps * width);
  batch.targets.resize(steps * width);
  for (std::size_t b = 0; b < width; ++b) {
    LanePosition& lane = lanes_[b];
    for (std::size_t t = 0; t < steps; ++t) {
      if (lane.active == 0) draw_unit(lane);
      const std::span<const std::uint16_t> unit = sources_[lane.source].corpus->unit(lane.unit);
      const std::uint16_t target = unit[lane.offset++];
      batch.inputs[t * width + b] = lane.previous;
      batch.targets[t * width + b] = target;
      ++source_positions_[lane.source].tokens;
      const bool line_ends = target == kNewlineId;
      lane.previous = line_ends && lane.split ? static_cast<std::uint16_t>(kBeginId) : target;
      if (lane.offset == unit.size()) lane.active = 0;
    }
  }
}

BatchPosition Batcher::position() const { return {random_.state(), lanes_, source_positions_}; }

Status Batcher::restore(const BatchPosition& position) {
  const Error misfit{ErrorCode::BadArgument,
                     "batch: the position is of another mixture or batch size; resume with the "
                     "mixture, the vocabulary and "
                     "the lanes that the run was started with"};
  if (position.lanes.size() != lanes_.size() || position.sources.size() != sources_.size())
    return misfit;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (position.sources[i].cursor > order_[i].size()) return misfit;
  }
  for (const LanePosition& lane : position.lanes) {
    if (lane.active == 0) continue;
    if (lane.source >= sources_.size() || lane.unit >= order_[lane.source].size()) return misfit;
    if (lane.offset >= sources_[lane.source].corpus->unit(lane.unit).size()) return misfit;
  }
  random_.set_state(position.random_state);
  lanes_ = position.lanes;
  source_positions_ = position.sources;
  for (std::size_t i = 0; i < sources_.size(); ++i) shuffle(i);
  return {};
}

std::vector<std::uint64_t> Batcher::tokens_per_source() const {
  std::vector<std::uint64_t> tokens;
  for (const SourcePosition& position : source_positions_) tokens.push_back(position.tokens);
  return tokens;
}

}  // namespace laya::train

#include "train/text/dev_set.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/utf8.h"

namespace laya::train {
namespace {

// Batches of few distinct shapes: oneDNN prepares a product once a shape.
constexpr std::size_t kLengthStep = 16;

struct LineRef {
  std::size_t source;
  std::size_t line;
  std::size_t length;
};

}  // namespace

void DevSet::add(std::string name, double share, std::string_view text, const LineEncoder& encoder,
                 std::size_t max_lines) {
  std::vector<std::string_view> all;
  for_each_line(text, [&](std::string_view line, std::size_t) {
    if (line.find_first_not_of(" \t") != std::string_view::npos) all.push_back(line);
  });
  DevSource source{std::move(name), share, {}, 0};
  const std::size_t wanted = std::min(max_lines, all.size());
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::string_view line = all[i * all.size() / wanted];
    ids.clear();
    encoder.encode(line, ids);
    ids.push_back(kNewlineId);
    if (ids.size() < 2 || ids.size() > kMaxLineTokens) continue;
    source.lines.emplace_back(ids.begin(), ids.end());
    source.characters += base::count_code_points(line) + 1;
  }
  if (!source.lines.empty()) sources_.push_back(std::move(source));
}

std::uint64_t DevSet::tokens() const {
  std::uint64_t count = 0;
  for (const DevSource& source : sources_) {
    for (const auto& line : source.lines) count += line.size();
  }
  return count;
}

Result<DevReport> DevSet::evaluate(const BatchScorer& scorer, std::uint32_t lanes) const {
  std::vector<LineRef> refs;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    for (std::size_t i = 0; i < sources_[s].lines.size(); ++i)
      refs.push_back({s, i, sources_[s].lines[i].size()});
  }
  std::stable_sort(refs.begin(), refs.end(),
                   [](const LineRef& a, const LineRef& b) { return a.length > b.length; });

  std::vector<double> nats(sources_.size(), 0.0);
  Batch batch;
  for (std::size_t first = 0; first < refs.size(); first += lanes) {
    const std::size_t used = std::min<std::size_t>(lanes, refs.size() - first);
    const std::size_t steps = (refs[first].length + kLengthStep - 1) / kLengthStep * kLengthStep;
    batch.steps = static_cast<std::uint32_t>(steps);
    batch.lanes = lanes;
    batch.inputs.assign(steps * lanes, static_cast<std::int32_t>(kBeginId));
    batch.targets.assign(steps * lanes, -1);
    for (std::size_t b = 0; b < used; ++b) {
      const std::vector<std::uint16_t>& line =
          sources_[refs[first + b].source].lines[refs[first + b].line];
      for (std::size_t t = 0; t < line.size(); ++t) {
        if (t > 0) batch.inputs[t * lanes + b] = line[t - 1];
        batch.targets[t * lanes + b] = line[t];
      }
    }
    Result<std::vector<float>> nll = scorer(batch);
    if (!nll) return nll.error();
    for (std::size_t b = 0; b < used; ++b) {
      for (std::size_t t = 0; t < refs[first + b].length; ++t)
        nats[refs[first + b].source] += (*nll)[t * lanes + b];
    }
  }

  DevReport report;
  double shares = 0.0;
  for (std::size_t s = 0; s < sources_.size(); ++s) {
    const double bits = nats[s] / std::numbers::ln2 / static_cast<double>(sources_[s].characters);
    if (!std::isfinite(bits))
      return Error{ErrorCode::Internal,
                   "dev: the loss on " + sources_[s].name + " is not a number"};
    report.sources.push_back({sources_[s].name, bits, sources_[s].characters});
    report.mean += sources_[s].share * bits;
    shares += sources_[s].share;
  }
  if (shares > 0.0) report.mean /= shares;
  return report;
}

}  // namespace laya::train

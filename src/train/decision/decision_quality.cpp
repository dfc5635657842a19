#include "train/decision/decision_quality.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace laya::train {
namespace {

/// ln sum exp, `more` as one more number.
double log_sum(std::span<const float> values, double more) {
  double largest = more;
  for (const float value : values) {
    largest = std::max(largest, static_cast<double>(value));
  }
  double sum = std::exp(more - largest);
  for (const float value : values) {
    sum += std::exp(static_cast<double>(value) - largest);
  }
  return largest + std::log(sum);
}

/// Mean of -ln of the share of each outcome, from how often each was seen; add-one smoothed.
double log_loss_of(std::span<const std::size_t> counts, double total, std::size_t outcome) {
  return -std::log((static_cast<double>(counts[outcome]) + 1.0) /
                   (total + static_cast<double>(counts.size())));
}

template <typename Rank>
RankingQuality quality_of(const RankingGroups& groups, const Rank& rank_of) {
  RankingQuality quality;
  quality.decisions = groups.size();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups.right[g] == kNoneRight) continue;
    ++quality.answerable;
    const std::size_t rank = rank_of(g);
    quality.top1 += rank == 0 ? 1.0 : 0.0;
    quality.mrr += 1.0 / static_cast<double>(rank + 1);
  }
  const auto answerable = static_cast<double>(std::max<std::size_t>(quality.answerable, 1));
  quality.top1 /= answerable;
  quality.mrr /= answerable;
  return quality;
}

}  // namespace

RankingQuality ranking_quality(const RankingGroups& groups, std::span<const float> scores) {
  const auto scores_of = [&](std::size_t g) {
    return scores.subspan(groups.first_row[g], groups.rows(g));
  };
  RankingQuality quality = quality_of(groups, [&](std::size_t g) {
    const std::span<const float> all = scores_of(g);
    const auto right = static_cast<std::size_t>(groups.right[g]);
    std::size_t rank = 0;
    for (std::size_t c = 0; c < all.size(); ++c) {
      const bool before = all[c] > all[right] || (all[c] == all[right] && c < right);
      rank += before ? 1 : 0;
    }
    return rank;
  });
  double loss = 0.0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::span<const float> all = scores_of(g);
    const std::int32_t right = groups.right[g];
    const double chosen = right == kNoneRight ? 0.0 : static_cast<double>(all[right]);
    loss += log_sum(all, 0.0) - chosen;
  }
  quality.log_loss = loss / static_cast<double>(std::max<std::size_t>(groups.size(), 1));
  return quality;
}

RankingQuality order_quality(const RankingGroups& groups) {
  RankingQuality quality =
      quality_of(groups, [&](std::size_t g) { return static_cast<std::size_t>(groups.right[g]); });
  std::vector<std::size_t> counts(kMaxRankingCandidates + 1, 0);
  std::size_t places = 1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    ++counts[static_cast<std::size_t>(groups.right[g] + 1)];
    places = std::max(places, groups.rows(g) + 1);
  }
  const std::span<const std::size_t> seen = std::span(counts).first(places);
  const auto total = static_cast<double>(groups.size());
  double loss = 0.0;
  for (const std::int32_t right : groups.right) {
    loss += log_loss_of(seen, total, static_cast<std::size_t>(right + 1));
  }
  quality.log_loss = loss / std::max(total, 1.0);
  return quality;
}

ActionQuality action_quality(const DecisionExamples& examples, std::size_t actions,
                             std::span<const float> logits) {
  ActionQuality quality;
  quality.decisions = examples.size();
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::span<const float> all = logits.subspan(i * actions, actions);
    const std::uint32_t right = examples.action[i];
    const auto best = static_cast<std::size_t>(std::ranges::max_element(all) - all.begin());
    quality.accuracy += best == right ? 1.0 : 0.0;
    quality.log_loss +=
        log_sum(all.subspan(1), static_cast<double>(all[0])) - static_cast<double>(all[right]);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(examples.size(), 1));
  quality.accuracy /= count;
  quality.log_loss /= count;
  return quality;
}

ActionQuality majority_quality(const DecisionExamples& learnt, const DecisionExamples& examples) {
  std::vector<std::size_t> counts(std::max(learnt.actions, examples.actions), 0);
  for (const std::uint32_t action : learnt.action) {
    ++counts[action];
  }
  const auto most = static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
  ActionQuality quality;
  quality.decisions = examples.size();
  for (const std::uint32_t action : examples.action) {
    quality.accuracy += action == most ? 1.0 : 0.0;
    quality.log_loss += log_loss_of(counts, static_cast<double>(learnt.size()), action);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(examples.size(), 1));
  quality.accuracy /= count;
  quality.log_loss /= count;
  return quality;
}

Result<std::vector<float>> all_scores(const model::DecisionModel& model,
                                      const RankingGroups& groups) {
  if (model.config().features != groups.features) {
    return Error{ErrorCode::BadArgument,
                 "the features of the decisions are not those that the ranker was trained on, in "
                 "their order"};
  }
  std::vector<float> scores(groups.first_row.back());
  const auto workspace = model.make_workspace();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::span<float> out = std::span(scores).subspan(groups.first_row[g], groups.rows(g));
    if (Status status = model.scores(*workspace, groups.rows_of(g), out); !status) {
      return status.error();
    }
  }
  return scores;
}

Result<std::vector<float>> all_logits(const model::DecisionModel& model,
                                      const DecisionExamples& examples) {
  const std::size_t actions = model.config().actions;
  if (examples.actions > actions) {
    return Error{ErrorCode::BadArgument, "the decisions have " + std::to_string(examples.actions) +
                                             " actions, the model has " + std::to_string(actions)};
  }
  std::vector<float> logits(examples.size() * actions);
  const auto workspace = model.make_workspace();
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const std::span<float> out = std::span(logits).subspan(i * actions, actions);
    if (Status status = model.logits(*workspace, examples.window(i), out); !status) {
      return status.error();
    }
  }
  return logits;
}

}  // namespace laya::train

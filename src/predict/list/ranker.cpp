#include "predict/list/ranker.h"

#include <algorithm>
#include <utility>

namespace laya::predict {

Result<std::unique_ptr<const Ranker>> Ranker::open(const std::string& path) {
  auto model = model::DecisionModel::open(path);
  if (!model) {
    return model.error();
  }
  return from_model(std::move(*model), path);
}

Result<std::unique_ptr<const Ranker>> Ranker::from_model(
    std::unique_ptr<const model::DecisionModel> model, const std::string& name) {
  if (model->config().kind != model::DecisionKind::Ranker) {
    return Error{ErrorCode::Unsupported, name + ": is no ranker of candidates"};
  }
  auto ranker = std::make_unique<Ranker>();
  for (const std::string& feature : model->config().features) {
    const auto found = std::find(kRankFeatureNames.begin(), kRankFeatureNames.end(), feature);
    if (found == kRankFeatureNames.end()) {
      return Error{ErrorCode::Unsupported,
                   name + ": feature \"" + feature + "\" is not known to this version"};
    }
    ranker->columns_.push_back(static_cast<std::size_t>(found - kRankFeatureNames.begin()));
    ranker->knows_deep_ = ranker->knows_deep_ || feature == "has_deep";
    ranker->knows_offers_ = ranker->knows_offers_ || feature == "is_lexicon";
  }
  ranker->model_ = std::move(model);
  return std::unique_ptr<const Ranker>(std::move(ranker));
}

CandidateRanker::CandidateRanker(const Ranker* ranker)
    : ranker_(ranker), rows_(kMost * kRankFeatures) {
  if (ranker_ != nullptr) {
    workspace_ = ranker_->model().make_workspace();
    chosen_.resize(kMost * ranker_->columns().size());
  }
}

void CandidateRanker::look(const RankMoment& moment, std::span<const Ranked> ranked,
                           std::span<const std::string_view> keys) {
  count_ = std::min(ranked.size(), kMost);
  moment.write(ranked.first(count_), keys.first(count_), rows_);
}

bool CandidateRanker::sort(std::span<Ranked> ranked) {
  if (ranker_ == nullptr || ranked.size() != count_) {
    return false;
  }
  const std::span<const std::size_t> columns = ranker_->columns();
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      chosen_[i * columns.size() + c] = rows_[i * kRankFeatures + columns[c]];
    }
  }
  const std::span<float> scores = std::span(scores_).first(count_);
  if (!ranker_->model().scores(
          *workspace_, std::span<const float>(chosen_).first(count_ * columns.size()), scores)) {
    return false;
  }
  std::size_t movable = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (ranked[i].word != nullptr || (ranked[i].offer != nullptr && ranker_->knows_offers())) {
      places_[movable++] = i;
    }
  }
  // Insertion sort: few, ties as they stand, and std::stable_sort allocates.
  for (std::size_t i = 1; i < movable; ++i) {
    const Ranked entry = ranked[places_[i]];
    const float score = scores[places_[i]];
    std::size_t at = i;
    for (; at > 0 && scores[places_[at - 1]] < score; --at) {
      ranked[places_[at]] = ranked[places_[at - 1]];
      scores[places_[at]] = scores[places_[at - 1]];
    }
    ranked[places_[at]] = entry;
    scores[places_[at]] = score;
  }
  return true;
}

}  // namespace laya::predict

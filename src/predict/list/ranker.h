// Ranker: orders the likeliest candidates of a decision anew, by a small network over their
// features (rank_features.h). Whatever goes wrong, the order by score stands.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/decision/decision_model.h"
#include "predict/list/rank_features.h"

namespace laya::predict {

/// The trained part: immutable, shared by all sessions.
class Ranker {
 public:
  /// Opens a .laya ranker. Its features may be any of kRankFeatureNames, in any order. Errors: as
  /// DecisionModel::open; Unsupported names a feature that is not known here.
  static Result<std::unique_ptr<const Ranker>> open(const std::string& path);
  static Result<std::unique_ptr<const Ranker>> from_model(
      std::unique_ptr<const model::DecisionModel> model, const std::string& name);

  const model::DecisionModel& model() const { return *model_; }
  /// Column in kRankFeatureNames of each of the model's features.
  std::span<const std::size_t> columns() const { return columns_; }
  /// It was trained on lists that the decoder had its say in.
  bool knows_deep() const { return knows_deep_; }
  /// And with offers among the words.
  bool knows_offers() const { return knows_offers_; }

 private:
  std::unique_ptr<const model::DecisionModel> model_;
  std::vector<std::size_t> columns_;
  bool knows_deep_ = false;
  bool knows_offers_ = false;
};

/// A session's use of it: scratch memory, nothing of the text. No allocation after construction.
class CandidateRanker {
 public:
  static constexpr std::size_t kMost = 24;  ///< candidates looked at; the others stay behind

  /// `ranker` must outlive it; nullptr: features only.
  explicit CandidateRanker(const Ranker* ranker);

  bool ready() const { return ranker_ != nullptr; }
  /// Computes the features of `ranked` (at most kMost; by order, best first), for rows().
  void look(const RankMoment& moment, std::span<const Ranked> ranked,
            std::span<const std::string_view> keys);
  /// Sorts what look() saw by the network's scores: its words, and its offers too if the network
  /// has learnt about offers (Ranker::knows_offers). Chinese characters and the rest keep their
  /// places, equal ones their order. False where all stay as they are because it could not.
  bool sort(std::span<Ranked> ranked);

  /// [count(), kRankFeatures] of the last look(), in the order of then.
  std::span<const float> rows() const {
    return std::span<const float>(rows_).first(count_ * kRankFeatures);
  }
  std::size_t count() const { return count_; }
  void forget() { count_ = 0; }

 private:
  const Ranker* ranker_;
  std::unique_ptr<model::Workspace> workspace_;
  std::vector<float> rows_;
  std::vector<float> chosen_;
  std::array<float, kMost> scores_{};
  std::array<std::size_t, kMost> places_{};  // that may be changed
  std::size_t count_ = 0;
};

}  // namespace laya::predict

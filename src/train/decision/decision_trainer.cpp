#include "train/decision/decision_trainer.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"
#include "train/decision/decision_graph.h"
#include "train/decision/decision_options.h"
#include "train/mlx/optimizer.h"
#include "train/mlx/stream_thread.h"
#include "train/text/random.h"

namespace laya::train {
namespace {

using model::DecisionConfig;
using model::DecisionTensor;
using model::DecisionWeights;

constexpr std::uint64_t kWarmUpSteps = 50;

/// Everything on one core while it lives, see decision_graph.cpp. oneDNN's products must not run
/// then (gemm.cpp says why); the graph has none.
class OneThread {
 public:
  OneThread() : blas_threads_(openblas_get_num_threads()) {
    openblas_set_num_threads(1);
    run_on_stream([this] {
      before_ = omp_get_max_threads();
      omp_set_num_threads(1);
    });
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() {
    run_on_stream([this] { omp_set_num_threads(before_); });
    openblas_set_num_threads(blas_threads_);
  }

 private:
  int before_ = 1;
  int blas_threads_;
};

mx::Shape mlx_shape(const std::vector<std::uint32_t>& shape) {
  mx::Shape out;
  for (const std::uint32_t n : shape) out.push_back(static_cast<int>(n));
  return out;
}

/// Builds the loss of the decisions `order` names, over the graph.
class Problem {
 public:
  virtual ~Problem() = default;
  virtual std::size_t size() const = 0;
  virtual mx::array loss(const DecisionGraph& graph,
                         std::span<const std::uint32_t> order) const = 0;
};

class RankProblem final : public Problem {
 public:
  RankProblem(const RankingGroups& groups, const DecisionWeights& weights, RankLoss loss)
      : groups_(groups), mean_(weights[0]), scale_(weights[1]), loss_(loss) {}

  std::size_t size() const override { return groups_.size(); }

  mx::array loss(const DecisionGraph& graph, std::span<const std::uint32_t> order) const override {
    const std::size_t width = groups_.features.size();
    std::size_t rows = 0, most = 0;
    for (const std::uint32_t g : order) {
      rows += groups_.rows(g);
      most = std::max(most, groups_.rows(g));
    }
    std::vector<float> features;
    features.reserve(rows * width);
    std::vector<std::int32_t> places, target;
    std::int32_t place = kFirstScorePlace;
    for (const std::uint32_t g : order) {
      for (const float value : groups_.rows_of(g)) {
        const std::size_t f = features.size() % width;
        features.push_back(prepared_feature(value, mean_[f], scale_[f]));
      }
      places.push_back(kNonePlace);
      for (std::size_t c = 0; c < most; ++c) {
        places.push_back(c < groups_.rows(g) ? place++ : kAbsentPlace);
      }
      target.push_back(groups_.right[g] + 1);
    }
    const int n = static_cast<int>(order.size());
    return rank_loss(
        loss_,
        graph.scores(mx::array(features.begin(), {static_cast<int>(rows), static_cast<int>(width)},
                               mx::float32)),
        mx::array(places.begin(), {n, static_cast<int>(most) + 1}, mx::int32),
        mx::array(target.begin(), {n}, mx::int32));
  }

 private:
  const RankingGroups& groups_;
  const std::vector<float>&mean_, &scale_;
  RankLoss loss_;
};

class ActionProblem final : public Problem {
 public:
  ActionProblem(const DecisionExamples& examples, std::size_t window)
      : examples_(examples), window_(window) {}

  std::size_t size() const override { return examples_.size(); }

  mx::array loss(const DecisionGraph& graph, std::span<const std::uint32_t> order) const override {
    std::vector<std::int32_t> ids, target;
    for (const std::uint32_t i : order) {
      std::span<const TokenId> tokens = examples_.window(i);
      tokens = tokens.last(std::min(tokens.size(), window_));
      ids.insert(ids.end(), window_ - tokens.size(), -1);
      for (const TokenId token : tokens) {
        ids.push_back(static_cast<std::int32_t>(token));
      }
      target.push_back(static_cast<std::int32_t>(examples_.action[i]));
    }
    const int n = static_cast<int>(order.size());
    return action_loss(
        graph.logits(mx::array(ids.begin(), {n, static_cast<int>(window_)}, mx::int32)),
        mx::array(target.begin(), {n}, mx::int32));
  }

 private:
  const DecisionExamples& examples_;
  std::size_t window_;
};

class Trainer {
 public:
  Trainer(const DecisionConfig& config, DecisionWeights weights,
          const DecisionTrainOptions& options)
      : config_(config),
        options_(options),
        tensors_(model::decision_tensors(config)),
        weights_(std::move(weights)) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      first_moments_.emplace_back(weights_[i].size(), 0.0F);
      second_moments_.emplace_back(weights_[i].size(), 0.0F);
      if (!is_measured(tensors_[i])) trained_.push_back(static_cast<int>(i));
    }
  }

  const DecisionWeights& weights() const { return weights_; }

  Result<TrainedDecision> run(const Problem& train, const Problem& dev,
                              const DecisionObserver& observer) {
    const std::int64_t start = base::monotonic_ns();
    TrainedDecision best;
    double best_loss = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> order(train.size()), dev_order(dev.size());
    std::iota(order.begin(), order.end(), 0U);
    std::iota(dev_order.begin(), dev_order.end(), 0U);
    const std::size_t batches = (train.size() + options_.batch - 1) / options_.batch;
    steps_ = batches * options_.epochs;
    std::uint32_t since_best = 0;
    for (std::uint32_t e = 1; e <= options_.epochs && since_best < options_.patience; ++e) {
      shuffle(order, e);
      DecisionEpoch epoch;
      epoch.epoch = e;
      for (std::size_t at = 0; at < order.size(); at += options_.batch) {
        const auto batch = std::span<const std::uint32_t>(order).subspan(
            at, std::min<std::size_t>(options_.batch, order.size() - at));
        const Result<double> loss = learn(train, batch);
        if (!loss) return loss.error();
        epoch.train_loss += *loss * static_cast<double>(batch.size());
      }
      epoch.train_loss /= static_cast<double>(train.size());
      epoch.dev_loss = judge(dev, dev_order);
      epoch.best = epoch.dev_loss < best_loss;
      since_best = epoch.best ? 0 : since_best + 1;
      if (epoch.best) {
        best_loss = epoch.dev_loss;
        best.weights = weights_;
      }
      best.curve.push_back(epoch);
      if (observer) observer(epoch);
    }
    best.seconds = static_cast<double>(base::monotonic_ns() - start) * 1e-9;
    return best;
  }

 private:
  static bool is_measured(const DecisionTensor& tensor) {  // of the features, not learnt
    return tensor.name.starts_with("input.");
  }

  /// Views of our memory: made anew for every step, evaluated before the memory changes.
  std::vector<mx::array> views() const {
    std::vector<mx::array> views;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      views.emplace_back(const_cast<float*>(weights_[i].data()), mlx_shape(tensors_[i].shape),
                         mx::float32, [](void*) {});
    }
    return views;
  }

  float learning_rate() const {
    const auto done = static_cast<double>(step_) / static_cast<double>(steps_);
    const double warm =
        std::min(1.0, static_cast<double>(step_ + 1) /
                          static_cast<double>(std::min(kWarmUpSteps, steps_ / 10 + 1)));
    return static_cast<float>(static_cast<double>(options_.learning_rate) * warm * 0.5 *
                              (1.0 + std::cos(std::numbers::pi * done)));
  }

  Result<double> learn(const Problem& train, std::span<const std::uint32_t> batch) {
    const std::uint64_t seed = Random::derive(options_.seed, 11, step_);
    const auto loss_of = [&](const std::vector<mx::array>& w) -> std::vector<mx::array> {
      return {train.loss(DecisionGraph(config_, w, options_.dropout, seed), batch)};
    };
    auto [values, gradients] = mx::value_and_grad(loss_of, trained_)(views());
    for (mx::array& gradient : gradients) gradient = mx::contiguous(gradient);
    std::vector<mx::array> all = gradients;
    all.push_back(values[0]);
    mx::eval(all);
    std::vector<AdamWSlot> slots;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const auto t = static_cast<std::size_t>(trained_[i]);
      const bool decays =
          tensors_[t].role == model::DecisionRole::Matrix && tensors_[t].name != "embedding.weight";
      slots.push_back({weights_[t], first_moments_[t], second_moments_[t],
                       std::span(gradients[i].data<float>(), gradients[i].size()),
                       decays ? WeightDecay::Apply : WeightDecay::Skip});
    }
    AdamWStep update;
    update.learning_rate = learning_rate();
    update.beta2 = 0.999F;
    update.weight_decay = options_.weight_decay;
    update.step = static_cast<std::int64_t>(++step_);
    const auto loss = static_cast<double>(values[0].item<float>());
    if (!std::isfinite(loss) || !std::isfinite(adamw_step(slots, update))) {
      return Error{ErrorCode::Internal,
                   "train: the loss is no number any more; try a lower --learning-rate"};
    }
    return loss;
  }

  double judge(const Problem& dev, std::span<const std::uint32_t> order) const {
    double sum = 0.0;
    for (std::size_t at = 0; at < order.size(); at += options_.batch) {
      const auto batch =
          order.subspan(at, std::min<std::size_t>(options_.batch, order.size() - at));
      mx::array loss = dev.loss(DecisionGraph(config_, views(), 0.0F, 0), batch);
      sum += static_cast<double>(loss.item<float>()) * static_cast<double>(batch.size());
    }
    return sum / static_cast<double>(order.size());
  }

  void shuffle(std::vector<std::uint32_t>& order, std::uint32_t epoch) const {
    Random random(Random::derive(options_.seed, 10, epoch));
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random.below(i)]);
    }
  }

  const DecisionConfig& config_;
  const DecisionTrainOptions& options_;
  std::vector<DecisionTensor> tensors_;
  DecisionWeights weights_, first_moments_, second_moments_;
  std::vector<int> trained_;
  std::uint64_t step_ = 0, steps_ = 1;
};

template <typename Run>
Result<TrainedDecision> on_one_thread(const Run& run) {
  try {
    const OneThread one;
    return run();
  } catch (const std::exception& error) {
    return Error{ErrorCode::Internal, std::string("train: MLX: ") + error.what()};
  }
}

}  // namespace

Result<TrainedDecision> train_ranker(const DecisionConfig& config, const RankingGroups& train,
                                     const RankingGroups& dev, const DecisionTrainOptions& options,
                                     const DecisionObserver& observer) {
  if (Status status = check_ranker_data(config, train, dev, options); !status) {
    return status.error();
  }
  return on_one_thread([&] {
    DecisionWeights weights = model::random_decision_weights(config, options.seed);
    measure_features(train, weights[0], weights[1]);
    Trainer trainer(config, std::move(weights), options);
    const RankProblem learnt(train, trainer.weights(), options.loss);
    const RankProblem judged(dev, trainer.weights(), options.loss);
    return trainer.run(learnt, judged, observer);
  });
}

Result<TrainedDecision> train_actions(const DecisionConfig& config, const DecisionExamples& train,
                                      const DecisionExamples& dev,
                                      const DecisionTrainOptions& options,
                                      const DecisionObserver& observer) {
  if (Status status = check_action_data(config, train, dev, options); !status) {
    return status.error();
  }
  return on_one_thread([&] {
    Trainer trainer(config, model::random_decision_weights(config, options.seed), options);
    return trainer.run(ActionProblem(train, config.window), ActionProblem(dev, config.window),
                       observer);
  });
}

}  // namespace laya::train

#include "train/decision/decision_options.h"

#include <cmath>
#include <string>

namespace laya::train {
namespace {

Error bad(const std::string& what) { return Error{ErrorCode::BadArgument, "train: " + what}; }

Status check_options(const DecisionTrainOptions& options) {
  if (options.epochs == 0 || options.patience == 0 || options.batch == 0 || options.batch > 65536) {
    return bad("epochs and patience must be at least 1, batch 1 to 65536");
  }
  if (!(options.learning_rate > 0.0F) || !(options.learning_rate <= 1.0F)) {
    return bad("the learning rate must be above 0 and at most 1");
  }
  if (!(options.weight_decay >= 0.0F) || !(options.weight_decay <= 1.0F)) {
    return bad("the weight decay must be 0 to 1");
  }
  if (!(options.dropout >= 0.0F) || !(options.dropout < 0.9F)) {
    return bad("dropout must be 0 to 0.9");
  }
  return {};
}

Status check_sizes(std::size_t train, std::size_t dev) {
  if (train == 0 || dev == 0) {
    return bad("there are " + std::to_string(train) + " decisions to learn from and " +
               std::to_string(dev) + " to judge on; both need one at least");
  }
  return {};
}

Status check_config(const model::DecisionConfig& config, bool ranker) {
  if (Status status = config.validate(); !status) return status;
  if ((config.kind == model::DecisionKind::Ranker) != ranker) {
    return bad("these data are not for a " + std::string(model::decision_kind_name(config.kind)));
  }
  return {};
}

}  // namespace

Result<RankLoss> parse_rank_loss(std::string_view name) {
  for (const RankLoss loss : {RankLoss::ListNet, RankLoss::Pairwise}) {
    if (rank_loss_name(loss) == name) return loss;
  }
  return bad("loss '" + std::string(name) + "' is none of: listnet, pairwise");
}

std::string_view rank_loss_name(RankLoss loss) {
  return loss == RankLoss::ListNet ? "listnet" : "pairwise";
}

Status check_ranker_data(const model::DecisionConfig& config, const RankingGroups& train,
                         const RankingGroups& dev, const DecisionTrainOptions& options) {
  if (Status status = check_config(config, true); !status) return status;
  if (Status status = check_options(options); !status) return status;
  if (train.features != config.features || dev.features != config.features) {
    return bad("the decisions to learn from and those to judge on have different features");
  }
  return check_sizes(train.size(), dev.size());
}

Status check_action_data(const model::DecisionConfig& config, const DecisionExamples& train,
                         const DecisionExamples& dev, const DecisionTrainOptions& options) {
  if (Status status = check_config(config, false); !status) return status;
  if (Status status = check_options(options); !status) return status;
  for (const DecisionExamples* examples : {&train, &dev}) {
    if (examples->vocabulary_size > config.vocabulary_size || examples->actions > config.actions) {
      return bad("the decisions have " + std::to_string(examples->vocabulary_size) +
                 " tokens and " + std::to_string(examples->actions) + " actions, the model " +
                 std::to_string(config.vocabulary_size) + " and " + std::to_string(config.actions));
    }
  }
  return check_sizes(train.size(), dev.size());
}

void measure_features(const RankingGroups& groups, std::vector<float>& mean,
                      std::vector<float>& scale) {
  const std::size_t width = groups.features.size();
  std::vector<double> sum(width, 0.0), square(width, 0.0);
  const auto rows = static_cast<double>(groups.first_row.back());
  for (std::size_t i = 0; i < groups.values.size(); ++i) {
    sum[i % width] += static_cast<double>(groups.values[i]);
  }
  for (std::size_t i = 0; i < groups.values.size(); ++i) {
    const double off = static_cast<double>(groups.values[i]) - sum[i % width] / rows;
    square[i % width] += off * off;
  }
  for (std::size_t f = 0; f < width; ++f) {
    mean[f] = static_cast<float>(sum[f] / rows);
    const double deviation = std::sqrt(square[f] / rows);
    const bool changes = deviation > 1e-6 * (1.0 + std::abs(sum[f] / rows));
    scale[f] = changes ? static_cast<float>(1.0 / deviation) : 0.0F;
  }
}

}  // namespace laya::train

// `laya train ranker`, `laya train mlp` and `laya train transformer`: decision models.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/progress_line.h"
#include "laya-train/train/train_commands.h"
#include "model/decision/decision_model.h"
#include "train/decision/decision_quality.h"
#include "train/decision/decision_trainer.h"

namespace laya::apps {
namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::string data;
  std::string dev;
  std::string out;
  std::string loss = "listnet";
  std::string licence;
  train::DecisionTrainOptions options;
  model::DecisionConfig config;  // shape, as far as it was given
  std::vector<std::uint32_t> hidden;
  bool json = false;
};

/// What one command learnt, for print and metadata.
struct Learnt {
  model::DecisionConfig config;
  train::TrainedDecision trained;
  std::size_t train = 0, dev = 0;  // decisions
  Json quality, baseline;          // on dev
};

template <typename Data>
struct Split {
  Data train, dev;
};

/// The decisions to learn from, and those to judge on: of another file, or the last tenth.
template <typename Data, typename Parse>
Result<Split<Data>> load(const Flags& flags, const Parse& parse) {
  const auto parsed = [&](const std::string& path) -> Result<Data> {
    const Result<std::string> text = read_text(path);
    if (!text) return text.error();
    return parse(*text, path);
  };
  Result<Data> all = parsed(flags.data);
  if (!all) return all.error();
  if (!flags.dev.empty()) {
    Result<Data> dev = parsed(flags.dev);
    if (!dev) return dev.error();
    return Split<Data>{std::move(*all), std::move(*dev)};
  }
  if (all->size() < 10) {
    return Error{ErrorCode::BadArgument, flags.data + ": " + std::to_string(all->size()) +
                                             " decisions are too few to judge on a tenth of them; "
                                             "give more, or others by --dev"};
  }
  const std::size_t cut = all->size() - all->size() / 10;
  return Split<Data>{all->part(0, cut), all->part(cut, all->size())};
}

Json to_json(const train::RankingQuality& quality) {
  return {{"decisions", quality.decisions},
          {"answerable", quality.answerable},
          {"top_1", quality.top1},
          {"mrr", quality.mrr},
          {"log_loss", quality.log_loss}};
}

Json to_json(const train::ActionQuality& quality) {
  return {{"decisions", quality.decisions},
          {"accuracy", quality.accuracy},
          {"log_loss", quality.log_loss}};
}

const train::DecisionEpoch& best_of(const train::TrainedDecision& trained) {
  const train::DecisionEpoch* best = &trained.curve.front();
  for (const train::DecisionEpoch& epoch : trained.curve) {
    if (epoch.best) best = &epoch;
  }
  return *best;
}

/// As it was written on the command line: 0.003, not the double next to the float.
double decimal(float value) { return std::round(static_cast<double>(value) * 1e7) / 1e7; }

/// What the file's metadata keep of how it came about.
Json record_of(const Flags& flags, const Learnt& learnt) {
  Json record = {{"generator", "laya train"}};
  if (!flags.licence.empty()) record["licence"] = flags.licence;
  Json training = {{"decisions", learnt.train},
                   {"epochs", learnt.trained.curve.size()},
                   {"best_epoch", best_of(learnt.trained).epoch},
                   {"batch", flags.options.batch},
                   {"learning_rate", decimal(flags.options.learning_rate)},
                   {"weight_decay", decimal(flags.options.weight_decay)},
                   {"dropout", decimal(flags.options.dropout)},
                   {"seed", flags.options.seed}};
  if (learnt.config.kind == model::DecisionKind::Ranker) {
    training["loss"] = train::rank_loss_name(flags.options.loss);
  }
  if (!learnt.quality.is_null()) {
    training["dev"] = learnt.quality;
    training["dev_baseline"] = learnt.baseline;
  }
  record["training"] = training;
  return record;
}

Status write(const Flags& flags, const Learnt& learnt) {
  return model::write_decision_model(flags.out, learnt.config, learnt.trained.weights,
                                     to_line(record_of(flags, learnt)));
}

std::string percent(const Json& json, const char* key) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100.0 * json[key].get<double>());
  return text;
}

void print(const Flags& flags, const Learnt& learnt) {
  const train::DecisionEpoch& best = best_of(learnt.trained);
  std::error_code ignored;
  if (flags.json) {
    std::cout << to_line({{"out", flags.out},
                          {"kind", model::decision_kind_name(learnt.config.kind)},
                          {"bytes", std::filesystem::file_size(flags.out, ignored)},
                          {"parameters", learnt.config.parameter_count()},
                          {"decisions", learnt.train},
                          {"epochs", learnt.trained.curve.size()},
                          {"best_epoch", best.epoch},
                          {"seconds", learnt.trained.seconds},
                          {"dev", learnt.quality},
                          {"dev_baseline", learnt.baseline}})
              << std::endl;
    return;
  }
  std::printf("%s: %llu parameters, %zu decisions, best of %zu epochs is %u, %.1f s\n",
              flags.out.c_str(), static_cast<unsigned long long>(learnt.config.parameter_count()),
              learnt.train, learnt.trained.curve.size(), best.epoch, learnt.trained.seconds);
  const bool ranks = learnt.config.kind == model::DecisionKind::Ranker;
  const char* key = ranks ? "top_1" : "accuracy";
  std::printf("on %zu other decisions: right %s, %s %s", learnt.dev,
              percent(learnt.quality, key).c_str(),
              ranks ? "in the order they had" : "always the most frequent action",
              percent(learnt.baseline, key).c_str());
  if (ranks) {
    std::printf("; MRR %.3f, was %.3f", learnt.quality["mrr"].get<double>(),
                learnt.baseline["mrr"].get<double>());
  }
  std::printf("; log loss %.3f, was %.3f nats\n", learnt.quality["log_loss"].get<double>(),
              learnt.baseline["log_loss"].get<double>());
}

/// Trains by `train`, writes, and judges by what then runs: the file, opened again.
template <typename Train, typename Judge>
void learn(const Flags& flags, Learnt& learnt, const Train& train, const Judge& judge,
           Outcome& outcome) {
  {
    ProgressLine progress(stderr);
    Result<train::TrainedDecision> trained = train([&](const train::DecisionEpoch& epoch) {
      char note[64];
      std::snprintf(note, sizeof(note), "epoch %u: %.4f, dev %.4f%s", epoch.epoch, epoch.train_loss,
                    epoch.dev_loss, epoch.best ? " *" : "");
      progress.show("training", static_cast<double>(epoch.epoch) / flags.options.epochs, note);
    });
    progress.clear();
    if (!trained) return fail(outcome, trained.error());
    learnt.trained = std::move(*trained);
  }
  if (Status status = write(flags, learnt); !status) return fail(outcome, status.error());
  const auto model = model::DecisionModel::open(flags.out);
  if (!model) return fail(outcome, model.error());
  if (Status status = judge(**model); !status) return fail(outcome, status.error());
  if (Status status = write(flags, learnt); !status) return fail(outcome, status.error());
  print(flags, learnt);
}

void run_ranker(Flags flags, Outcome& outcome) {
  const Result<train::RankLoss> loss = train::parse_rank_loss(flags.loss);
  if (!loss) return fail(outcome, loss.error());
  flags.options.loss = *loss;
  auto split = load<train::RankingGroups>(flags, train::parse_ranking);
  if (!split) return fail(outcome, split.error());
  Learnt learnt;
  learnt.config = model::default_ranker_config(split->train.features);
  if (!flags.hidden.empty()) learnt.config.hidden = flags.hidden;
  learnt.train = split->train.size();
  learnt.dev = split->dev.size();
  const auto train = [&](const train::DecisionObserver& observer) {
    return train::train_ranker(learnt.config, split->train, split->dev, flags.options, observer);
  };
  const auto judge = [&](const model::DecisionModel& model) -> Status {
    const auto scores = train::all_scores(model, split->dev);
    if (!scores) return scores.error();
    learnt.quality = to_json(train::ranking_quality(split->dev, *scores));
    learnt.baseline = to_json(train::order_quality(split->dev));
    return {};
  };
  learn(flags, learnt, train, judge, outcome);
}

/// Fields that were not given (0) take the default's value.
void fill_in(const model::DecisionConfig& given, model::DecisionConfig& config) {
  for (const auto field : {&model::DecisionConfig::vocabulary_size, &model::DecisionConfig::actions,
                           &model::DecisionConfig::window, &model::DecisionConfig::embedding_dim,
                           &model::DecisionConfig::layers, &model::DecisionConfig::heads,
                           &model::DecisionConfig::head_dim, &model::DecisionConfig::ffn_dim}) {
    if (given.*field != 0) config.*field = given.*field;
  }
}

void run_actions(const Flags& flags, Outcome& outcome) {
  auto split = load<train::DecisionExamples>(flags, train::parse_decision_examples);
  if (!split) return fail(outcome, split.error());
  const std::uint32_t vocabulary =
      std::max(split->train.vocabulary_size, split->dev.vocabulary_size);
  const std::uint32_t actions =
      std::max({split->train.actions, split->dev.actions, std::uint32_t{2}});
  Learnt learnt;
  learnt.config = flags.config.kind == model::DecisionKind::WindowedMlp
                      ? model::default_windowed_mlp_config(vocabulary, actions)
                      : model::default_transformer_config(vocabulary, actions);
  fill_in(flags.config, learnt.config);
  if (!flags.hidden.empty()) learnt.config.hidden = flags.hidden;
  learnt.train = split->train.size();
  learnt.dev = split->dev.size();
  const auto train = [&](const train::DecisionObserver& observer) {
    return train::train_actions(learnt.config, split->train, split->dev, flags.options, observer);
  };
  const auto judge = [&](const model::DecisionModel& model) -> Status {
    const auto logits = train::all_logits(model, split->dev);
    if (!logits) return logits.error();
    learnt.quality = to_json(train::action_quality(split->dev, learnt.config.actions, *logits));
    learnt.baseline = to_json(train::majority_quality(split->train, split->dev));
    return {};
  };
  learn(flags, learnt, train, judge, outcome);
}

void add_common(CLI::App& app, Flags& flags) {
  app.add_option("--dev", flags.dev,
                 "a file of other decisions to judge on (default: the last tenth of the first)");
  app.add_option("--out", flags.out, "the model to write, fp32")->required();
  train::DecisionTrainOptions& options = flags.options;
  app.add_option("--epochs", options.epochs, "passes over the data at most")->capture_default_str();
  app.add_option("--patience", options.patience,
                 "stop after so many passes without a better dev loss")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "decisions a step")->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate, "at its peak; falls to zero")
      ->capture_default_str();
  app.add_option("--weight-decay", options.weight_decay, "AdamW, matrices only")
      ->capture_default_str();
  app.add_option("--dropout", options.dropout, "of hidden units")->capture_default_str();
  app.add_option("--seed", options.seed, "random seed")->capture_default_str();
  app.add_option("--licence", flags.licence, "SPDX expression, kept in the file");
  app.add_flag("--json", flags.json, "one JSON object on one line");
}

void add_examples(CLI::App& app, Flags& flags) {
  app.add_option("--examples", flags.data, "JSONL: {\"window\":[3,1,4],\"action\":2} a line")
      ->required();
  model::DecisionConfig& config = flags.config;
  app.add_option("--window", config.window, "newest tokens that count (default 8)");
  app.add_option("--embedding-dim", config.embedding_dim, "width of a token's vector");
  app.add_option("--vocabulary", config.vocabulary_size,
                 "tokens there are (default: the largest seen + 1)");
  app.add_option("--actions", config.actions, "actions there are (default: the largest seen + 1)");
}

}  // namespace

void add_train_ranker(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand("ranker", "learn to order candidates by their features");
  const auto flags = std::make_shared<Flags>();
  app->add_option("--groups", flags->data, "decisions: see src/train/ranking_file.h")->required();
  app->add_option("--loss", flags->loss, "listnet or pairwise")
      ->check(CLI::IsMember({"listnet", "pairwise"}))
      ->capture_default_str();
  app->add_option("--hidden", flags->hidden, "widths of the hidden layers (default 64,32)")
      ->delimiter(',');
  add_common(*app, *flags);
  app->footer(
      "example: laya train ranker --groups testdata/decision/candidates.tsv --out ranker.laya\n"
      "         laya quantize ranker.laya small.laya --group 32 && laya bench decision small.laya");
  app->callback([flags, &outcome] { run_ranker(*flags, outcome); });
}

void add_train_mlp(CLI::App& train, Outcome& outcome) {
  CLI::App* app =
      train.add_subcommand("mlp", "learn to choose an action from the last tokens, the fast way");
  const auto flags = std::make_shared<Flags>();
  flags->config.kind = model::DecisionKind::WindowedMlp;
  add_examples(*app, *flags);
  app->add_option("--hidden", flags->hidden, "widths of the hidden layers (default 64)")
      ->delimiter(',');
  add_common(*app, *flags);
  app->footer(
      "example: laya train mlp --examples testdata/decision/gestures.jsonl --out gestures.laya");
  app->callback([flags, &outcome] { run_actions(*flags, outcome); });
}

void add_train_transformer(CLI::App& train, Outcome& outcome) {
  CLI::App* app = train.add_subcommand(
      "transformer", "learn to choose an action from the last tokens, with attention between them");
  const auto flags = std::make_shared<Flags>();
  flags->config.kind = model::DecisionKind::Transformer;
  add_examples(*app, *flags);
  app->add_option("--layers", flags->config.layers, "1 to 4 (default 1)");
  app->add_option("--heads", flags->config.heads, "attention heads (default 4)");
  app->add_option("--head-dim", flags->config.head_dim, "width of a head, a multiple of 16");
  app->add_option("--ffn-dim", flags->config.ffn_dim, "width of the gated layer (default 128)");
  add_common(*app, *flags);
  app->footer(
      "example: laya train transformer --examples testdata/decision/game.jsonl --out game.laya");
  app->callback([flags, &outcome] { run_actions(*flags, outcome); });
}

}  // namespace laya::apps

#include "train/gru/train_options.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

namespace laya::train {
namespace {

using Json = nlohmann::json;

Status in_range(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return {};
  std::ostringstream text;
  text << "train: " << name << " is " << value << "; it must be from " << low << " to " << high;
  return Error{ErrorCode::BadArgument, text.str()};
}

}  // namespace

Status TrainOptions::validate() const {
  struct Range {
    const char* name;
    double value, low, high;
  };
  const Range ranges[] = {
      {"until-tokens", static_cast<double>(until_tokens), 1, 1e12},
      {"minutes", minutes, 0, 1e6},
      {"lanes", static_cast<double>(lanes), 1, 4096},
      {"steps", static_cast<double>(steps), 1, 4096},
      {"learning-rate", learning_rate, 1e-8, 1},
      {"beta1", beta1, 0, 0.9999},
      {"beta2", beta2, 0, 0.99999},
      {"weight-decay", weight_decay, 0, 1},
      {"max-gradient-norm", max_gradient_norm, 0, 1e6},
      {"dropout", dropout, 0, 0.9},
      {"decay-from", decay_from, 0, 0.999},
      {"candidates", static_cast<double>(candidates), 16, 1e6},
      {"full-head-from", full_head_from, 0, 1},
      {"eval-every-tokens", static_cast<double>(eval_every_tokens), 1, 1e12},
      {"eval-lines", static_cast<double>(eval_lines), 1, 1e6},
      {"checkpoint-every-s", checkpoint_every_s, 0, 1e6},
  };
  for (const Range& range : ranges) {
    if (Status s = in_range(range.name, range.value, range.low, range.high); !s) return s;
  }
  return {};
}

double run_progress(const TrainOptions& options, std::uint64_t tokens, double wall,
                    double progress_at_start) {
  const double by_tokens = static_cast<double>(tokens) / static_cast<double>(options.until_tokens);
  const double by_time = wall > 0.0 ? progress_at_start + (1.0 - progress_at_start) * wall : 0.0;
  return std::clamp(std::max(by_tokens, by_time), 0.0, 1.0);
}

float learning_rate(const TrainOptions& options, std::uint64_t tokens, double progress) {
  double factor = 1.0;
  switch (options.decay) {
    case Decay::Linear:
      factor = 1.0 - progress;
      break;
    case Decay::Cosine:
      factor = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
      break;
    case Decay::Trapezoid:
      factor = std::min(1.0, (1.0 - progress) / (1.0 - options.decay_from));
      break;
  }
  if (tokens < options.warmup_tokens) {
    factor = std::min(factor,
                      static_cast<double>(tokens + 1) / static_cast<double>(options.warmup_tokens));
  }
  return static_cast<float>(options.learning_rate * factor);
}

const char* decay_name(Decay decay) {
  switch (decay) {
    case Decay::Linear:
      return "linear";
    case Decay::Cosine:
      return "cosine";
    case Decay::Trapezoid:
      return "trapezoid";
  }
  return "linear";
}

Result<Decay> parse_decay(std::string_view name) {
  for (Decay decay : {Decay::Linear, Decay::Cosine, Decay::Trapezoid}) {
    if (name == decay_name(decay)) return decay;
  }
  return Error{ErrorCode::BadArgument,
               "decay '" + std::string(name) + "' is unknown; known: linear, cosine, trapezoid"};
}

std::string options_to_json(const TrainOptions& o) {
  const Json json = {
      {"mixture", o.mixture.string()},
      {"data_root", o.data_root.string()},
      {"vocabulary", o.vocabulary.string()},
      {"run_dir", o.run_dir.string()},
      {"cache_dir", o.cache_dir.string()},
      {"start_from", o.start_from.string()},
      {"config",
       {{"vocabulary_size", o.config.vocabulary_size},
        {"embedding_dim", o.config.embedding_dim},
        {"hidden_dim", o.config.hidden_dim},
        {"layers", o.config.layers},
        {"heads", o.config.heads},
        {"head_dim", o.config.head_dim},
        {"window", o.config.window},
        {"norm_eps", o.config.norm_eps}}},
      {"until_tokens", o.until_tokens},
      {"minutes", o.minutes},
      {"patience", o.patience},
      {"lanes", o.lanes},
      {"steps", o.steps},
      {"seed", o.seed},
      {"learning_rate", o.learning_rate},
      {"beta1", o.beta1},
      {"beta2", o.beta2},
      {"weight_decay", o.weight_decay},
      {"max_gradient_norm", o.max_gradient_norm},
      {"dropout", o.dropout},
      {"warmup_tokens", o.warmup_tokens},
      {"decay", decay_name(o.decay)},
      {"decay_from", o.decay_from},
      {"candidates", o.candidates},
      {"full_head_from", o.full_head_from},
      {"eval_every_tokens", o.eval_every_tokens},
      {"eval_lines", o.eval_lines},
      {"checkpoint_every_s", o.checkpoint_every_s},
  };
  return json.dump();
}

Result<TrainOptions> options_from_json(std::string_view text) {
  TrainOptions o;
  try {
    const Json json = Json::parse(text);
    const auto path = [&](const char* key) {
      return std::filesystem::path(json.at(key).get<std::string>());
    };
    o.mixture = path("mixture");
    o.data_root = path("data_root");
    o.vocabulary = path("vocabulary");
    o.run_dir = path("run_dir");
    o.cache_dir = path("cache_dir");
    o.start_from = json.value("start_from", std::string());  // checkpoints of before it lack it
    const Json& config = json.at("config");
    config.at("vocabulary_size").get_to(o.config.vocabulary_size);
    config.at("embedding_dim").get_to(o.config.embedding_dim);
    config.at("hidden_dim").get_to(o.config.hidden_dim);
    config.at("layers").get_to(o.config.layers);
    config.at("heads").get_to(o.config.heads);
    config.at("head_dim").get_to(o.config.head_dim);
    config.at("window").get_to(o.config.window);
    config.at("norm_eps").get_to(o.config.norm_eps);
    json.at("until_tokens").get_to(o.until_tokens);
    json.at("minutes").get_to(o.minutes);
    json.at("patience").get_to(o.patience);
    json.at("lanes").get_to(o.lanes);
    json.at("steps").get_to(o.steps);
    json.at("seed").get_to(o.seed);
    json.at("learning_rate").get_to(o.learning_rate);
    json.at("beta1").get_to(o.beta1);
    json.at("beta2").get_to(o.beta2);
    json.at("weight_decay").get_to(o.weight_decay);
    json.at("max_gradient_norm").get_to(o.max_gradient_norm);
    json.at("dropout").get_to(o.dropout);
    json.at("warmup_tokens").get_to(o.warmup_tokens);
    Result<Decay> decay = parse_decay(json.at("decay").get<std::string>());
    if (!decay) return decay.error();
    o.decay = *decay;
    json.at("decay_from").get_to(o.decay_from);
    json.at("candidates").get_to(o.candidates);
    json.at("full_head_from").get_to(o.full_head_from);
    json.at("eval_every_tokens").get_to(o.eval_every_tokens);
    json.at("eval_lines").get_to(o.eval_lines);
    json.at("checkpoint_every_s").get_to(o.checkpoint_every_s);
  } catch (const Json::exception& error) {
    return Error{ErrorCode::Corrupt, std::string("checkpoint: options: ") + error.what()};
  }
  return o;
}

}  // namespace laya::train

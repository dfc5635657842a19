#include "eval/evaluate_rerank.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "eval/instant_scorer.h"
#include "eval/quantile.h"
#include "predict/deep/deep_model.h"
#include "predict/deep/sentence_scorer.h"

namespace laya::eval {
namespace {

using predict::Engine;
using predict::InstantScorer;
using predict::SentenceScorer;

constexpr double kLn10 = 2.302585092994046;
constexpr double kGivenWeights[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 3};
constexpr double kInstantWeights[] = {0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2};

/// The three scores of one list, and which candidate is right.
struct Scored {
  std::vector<double> decoder, given, instant;  // natural logarithms
  std::optional<std::size_t> right;
};

struct Weights {
  double decoder, given, instant;
};

std::vector<std::size_t> ordered(const Scored& list, const Weights& weights) {
  std::vector<std::size_t> order(list.given.size());
  std::vector<double> score(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    score[i] = weights.decoder * list.decoder[i] + weights.given * list.given[i] +
               weights.instant * list.instant[i];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  return order;
}

std::size_t rank_of_right(const Scored& list, const Weights& weights) {
  if (!list.right) {
    return list.given.size();
  }
  const std::vector<std::size_t> order = ordered(list, weights);
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), *list.right) -
                                  order.begin());
}

/// ln of the share that `right` has of e^(scale · score) over the list: smoother than counting
/// firsts.
double log_share(const Scored& list, const Weights& weights, double scale) {
  const auto score = [&](std::size_t i) {
    return scale * (weights.decoder * list.decoder[i] + weights.given * list.given[i] +
                    weights.instant * list.instant[i]);
  };
  double highest = score(0);
  for (std::size_t i = 1; i < list.given.size(); ++i) {
    highest = std::max(highest, score(i));
  }
  double sum = 0;
  for (std::size_t i = 0; i < list.given.size(); ++i) {
    sum += std::exp(score(i) - highest);
  }
  return score(*list.right) - highest - std::log(sum);
}

/// The weights under which the right candidates of one half are likeliest (logistic regression over
/// a grid).
Weights learn(const std::vector<Scored>& lists, std::size_t half, const Weights& may) {
  constexpr double kScales[] = {0.25, 0.5, 0.75, 1};
  Weights best = may;
  double best_value = -std::numeric_limits<double>::infinity();
  for (const double given : kGivenWeights) {
    for (const double instant : kInstantWeights) {
      if ((may.given == 0 && given > 0) || (may.instant == 0 && instant > 0)) {
        continue;
      }
      const Weights weights{may.decoder, given, instant};
      for (const double scale : kScales) {
        double value = 0;
        for (std::size_t i = half; i < lists.size(); i += 2) {
          value += lists[i].right ? log_share(lists[i], weights, scale) : 0;
        }
        if (value > best_value) {
          best_value = value;
          best = weights;
        }
      }
    }
  }
  return best;
}

/// Share of the characters of `meant` that stand at the same place in `got`.
double characters_right(std::string_view meant, std::string_view got) {
  std::vector<char32_t> a;
  std::vector<char32_t> b;
  for (const base::Decoded& code : base::CodePoints(meant)) a.push_back(code.code_point);
  for (const base::Decoded& code : base::CodePoints(got)) b.push_back(code.code_point);
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    same += a[i] == b[i] ? 1 : 0;
  }
  return a.empty() ? 1 : static_cast<double>(same) / static_cast<double>(a.size());
}

enum class Learning { No, Yes };

RerankResult::Order report(std::string name, const std::vector<NbestSentence>& sentences,
                           const std::vector<Scored>& lists, const Weights& weights,
                           Learning learning) {
  RerankResult::Order order;
  order.name = std::move(name);
  for (std::size_t half = 0; half < 2; ++half) {
    const Weights used = learning == Learning::Yes ? learn(lists, 1 - half, weights) : weights;
    order.given_weight[half] = used.given;
    order.instant_weight[half] = used.instant;
    for (std::size_t i = half; i < lists.size(); i += 2) {
      const std::size_t rank = rank_of_right(lists[i], used);
      order.first += lists[i].right && rank == 0 ? 1 : 0;
      order.first_five += lists[i].right && rank < 5 ? 1 : 0;
      if (!lists[i].given.empty()) {
        order.characters += characters_right(
            sentences[i].expected, sentences[i].candidates[ordered(lists[i], used)[0]].text);
      }
    }
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, lists.size()));
  order.first /= count;
  order.first_five /= count;
  order.characters /= count;
  return order;
}

}  // namespace

Result<std::vector<NbestSentence>> parse_nbest(std::string_view text) {
  std::vector<NbestSentence> sentences;
  std::string before;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    constexpr std::string_view kBefore = "#before\t";
    if (line.starts_with(kBefore)) {
      before = line.substr(kBefore.size());
      continue;
    }
    if (line.empty() || line.front() == '#') {
      continue;
    }
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t tab = std::min(line.find('\t', at), line.size());
      fields.push_back(line.substr(at, tab - at));
      at = tab + 1;
    }
    if (fields.size() < 2 || fields.size() % 2 != 0) {
      return Error{ErrorCode::BadArgument,
                   "line " + std::to_string(number) + ": " + std::to_string(fields.size()) +
                       " fields; wanted typed, expected, then candidate and score in turn"};
    }
    NbestSentence sentence;
    sentence.typed = fields[0];
    sentence.expected = fields[1];
    sentence.before = std::exchange(before, {});
    for (std::size_t i = 2; i < fields.size(); i += 2) {
      double score = 0;
      const char* last = fields[i + 1].data() + fields[i + 1].size();
      const auto [stop, error] = std::from_chars(fields[i + 1].data(), last, score);
      if (error != std::errc() || stop != last || !std::isfinite(score)) {
        return Error{ErrorCode::BadArgument, "line " + std::to_string(number) + ", field " +
                                                 std::to_string(i + 2) + ": is no score"};
      }
      sentence.candidates.push_back({std::string(fields[i]), score});
    }
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

Result<RerankResult> evaluate_rerank(const Engine& engine,
                                     const std::vector<NbestSentence>& sentences,
                                     const RerankOptions& options) {
  if (engine.deep() == nullptr) {
    return Error{ErrorCode::BadArgument, "rerank: needs a decoder (--deep)"};
  }
  if (sentences.empty()) {
    return Error{ErrorCode::BadArgument, "rerank: no sentences"};
  }
  const std::size_t count = options.max_sentences == 0
                                ? sentences.size()
                                : std::min(options.max_sentences, sentences.size());
  SentenceScorer scorer(engine.deep()->decoder(), engine.deep()->tokenizer(),
                        {.threads = engine.threads(),
                         .keys_and_values = {.capacity_tokens = 512, .tree_nodes = 1024}});
  InstantScorer instant(engine);
  std::vector<Scored> lists(count);
  std::vector<double> times;
  RerankResult result;
  result.sentences = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (options.progress) {
      options.progress(i, count);
    }
    const NbestSentence& sentence = sentences[i];
    Scored& list = lists[i];
    const std::size_t size = std::min(options.max_candidates, sentence.candidates.size());
    std::vector<std::string_view> texts(size);
    for (std::size_t c = 0; c < size; ++c) {
      texts[c] = sentence.candidates[c].text;
      list.given.push_back(sentence.candidates[c].score * kLn10);
      if (!list.right && texts[c] == sentence.expected) {
        list.right = c;
      }
    }
    result.holds += list.right ? 1 : 0;
    result.candidates += static_cast<double>(size);
    std::vector<float> scores(size);
    const std::int64_t begin = base::monotonic_ns();
    if (auto done = scorer.set_context(sentence.before); !done) {
      return done.error();
    }
    if (auto done = scorer.score(texts, scores); !done) {
      return done.error();
    }
    times.push_back(static_cast<double>(base::monotonic_ns() - begin) / 1e6);
    result.columns += static_cast<double>(scorer.columns());
    result.passes += static_cast<double>(scorer.passes());
    list.decoder.assign(scores.begin(), scores.end());
    if (auto done = instant.score(sentence.before, texts, scores); !done) {
      return done.error();
    }
    list.instant.assign(scores.begin(), scores.end());
  }
  const auto all = static_cast<double>(count);
  result.holds /= all;
  result.candidates /= all;
  result.columns /= all;
  result.passes /= all;
  result.ms_p50 = quantile(times, 0.5);
  result.ms_p99 = quantile(times, 0.99);
  result.orders.push_back(report("as given", sentences, lists, {0, 1, 0}, Learning::No));
  result.orders.push_back(report("decoder", sentences, lists, {1, 0, 0}, Learning::No));
  result.orders.push_back(report("instant", sentences, lists, {0, 0, 1}, Learning::No));
  result.orders.push_back(report("instant + given", sentences, lists, {0, 1, 1}, Learning::Yes));
  result.orders.push_back(report("decoder + given", sentences, lists, {1, 1, 0}, Learning::Yes));
  result.orders.push_back(
      report("decoder + given + instant", sentences, lists, {1, 1, 1}, Learning::Yes));
  return result;
}

std::string to_json(const RerankResult& result) {
  nlohmann::ordered_json json;
  json["sentences"] = result.sentences;
  json["holds"] = result.holds;
  for (const RerankResult::Order& order : result.orders) {
    json["orders"].push_back({{"name", order.name},
                              {"first", order.first},
                              {"first_five", order.first_five},
                              {"characters", order.characters},
                              {"given_weight", order.given_weight},
                              {"instant_weight", order.instant_weight}});
  }
  json["ms_p50"] = result.ms_p50;
  json["ms_p99"] = result.ms_p99;
  json["candidates"] = result.candidates;
  json["columns"] = result.columns;
  json["passes"] = result.passes;
  return json.dump();
}

}  // namespace laya::eval

#include "laya-train/train/quantize_decision.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <vector>

#include "model/decision/decision_model.h"
#include "model/decision/decision_quantize.h"
#include "train/decision/decision_quality.h"

namespace laya::apps {
namespace {

/// Share of decisions in which both put the same first, and how often each is right.
struct Agreement {
  std::size_t decisions = 0;
  double same_first = 0, exact_right = 0, small_right = 0;
};

std::size_t best(std::span<const float> values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

Result<Agreement> compare_rankers(const model::DecisionModel& exact,
                                  const model::DecisionModel& small, std::string_view text,
                                  const std::string& path) {
  const auto groups = train::parse_ranking(text, path);
  if (!groups) return groups.error();
  const auto a = train::all_scores(exact, *groups);
  if (!a) return a.error();
  const auto b = train::all_scores(small, *groups);
  if (!b) return b.error();
  Agreement agreement;
  agreement.decisions = groups->size();
  for (std::size_t g = 0; g < groups->size(); ++g) {
    const std::size_t first = groups->first_row[g], rows = groups->rows(g);
    agreement.same_first +=
        best(std::span(*a).subspan(first, rows)) == best(std::span(*b).subspan(first, rows)) ? 1.0
                                                                                             : 0.0;
  }
  agreement.same_first /= static_cast<double>(groups->size());
  agreement.exact_right = train::ranking_quality(*groups, *a).top1;
  agreement.small_right = train::ranking_quality(*groups, *b).top1;
  return agreement;
}

Result<Agreement> compare_choosers(const model::DecisionModel& exact,
                                   const model::DecisionModel& small, std::string_view text,
                                   const std::string& path) {
  const auto examples = train::parse_decision_examples(text, path);
  if (!examples) return examples.error();
  const auto a = train::all_logits(exact, *examples);
  if (!a) return a.error();
  const auto b = train::all_logits(small, *examples);
  if (!b) return b.error();
  const std::size_t actions = exact.config().actions;
  Agreement agreement;
  agreement.decisions = examples->size();
  for (std::size_t i = 0; i < examples->size(); ++i) {
    agreement.same_first += best(std::span(*a).subspan(i * actions, actions)) ==
                                    best(std::span(*b).subspan(i * actions, actions))
                                ? 1.0
                                : 0.0;
  }
  agreement.same_first /= static_cast<double>(examples->size());
  agreement.exact_right = train::action_quality(*examples, actions, *a).accuracy;
  agreement.small_right = train::action_quality(*examples, actions, *b).accuracy;
  return agreement;
}

Result<Agreement> compare(const std::string& in, const QuantizeDecisionOptions& options) {
  const auto exact = model::DecisionModel::open(in);
  if (!exact) return exact.error();
  const auto small = model::DecisionModel::open(options.out);
  if (!small) return small.error();
  const auto text = read_text(options.examples);
  if (!text) return text.error();
  const bool ranks = (*exact)->config().kind == model::DecisionKind::Ranker;
  return ranks ? compare_rankers(**exact, **small, *text, options.examples)
               : compare_choosers(**exact, **small, *text, options.examples);
}

}  // namespace

void quantize_decision(const format::ModelFile& file, const model::QuantizeRecipe& recipe,
                       const QuantizeDecisionOptions& options, Outcome& outcome) {
  if (Status status = model::quantize_decision_file(file, options.out, recipe); !status) {
    return fail(outcome, status.error());
  }
  std::optional<Agreement> agreement;
  if (!options.examples.empty()) {
    const Result<Agreement> compared = compare(file.path(), options);
    if (!compared) return fail(outcome, compared.error());
    agreement = *compared;
  }
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(options.out, ignored);
  const std::string precision = model::precision_text(recipe.standard);
  if (options.json) {
    nlohmann::ordered_json json = {
        {"out", options.out}, {"bytes", bytes}, {"precision", precision}};
    if (agreement) {
      json.update(
          {{"decisions", agreement->decisions},
           {"same_first", agreement->same_first},
           {"right", {{"exact", agreement->exact_right}, {"quantised", agreement->small_right}}}});
    }
    std::cout << to_line(json) << std::endl;
    return;
  }
  std::printf("%s: %llu bytes, was %llu; matrices %s\n", options.out.c_str(),
              static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(file.file_bytes()), precision.c_str());
  if (agreement) {
    std::printf("%zu decisions: %.2f %% the same; right %.2f %%, was %.2f %%\n",
                agreement->decisions, 100.0 * agreement->same_first, 100.0 * agreement->small_right,
                100.0 * agreement->exact_right);
  }
}

}  // namespace laya::apps

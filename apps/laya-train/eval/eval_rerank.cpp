#include <cstdio>
#include <iostream>
#include <memory>

#include "eval/evaluate_rerank.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

struct RerankOptions {
  setup::ModelOptions model;
  std::string file;
  std::size_t sentences = 0;
  std::size_t candidates = 50;
  bool json = false;
};

void evaluate_order(const RerankOptions& options, Outcome& outcome) {
  const Result<std::string> text = read_text(options.file);
  if (!text) return fail(outcome, text.error());
  const auto sentences = eval::parse_nbest(*text);
  if (!sentences) {
    return fail(outcome, {sentences.error().code, options.file + ": " + sentences.error().message});
  }
  const auto engine = open_engine(options.model);
  if (!engine) return fail(outcome, engine.error());
  if ((*engine)->deep() == nullptr) {
    return fail_usage(outcome, "eval rerank needs a decoder: --deep NAME (laya model list)");
  }
  eval::RerankOptions rerank;
  rerank.max_sentences = options.sentences;
  rerank.max_candidates = options.candidates;
  rerank.progress = progress();
  const auto result = eval::evaluate_rerank(**engine, *sentences, rerank);
  if (!result) return fail(outcome, result.error());
  if (options.json) {
    std::cout << eval::to_json(*result) << std::endl;
    return;
  }
  std::printf("%zu sentences, the right one is in the list of %.1f %%; %s\n", result->sentences,
              100 * result->holds, setup::deep_name(options.model).c_str());
  for (const eval::RerankResult::Order& order : result->orders) {
    std::printf("  %-28s first right %5.1f %%, among five %5.1f %%, characters %5.1f %%\n",
                order.name.c_str(), 100 * order.first, 100 * order.first_five,
                100 * order.characters);
  }
  std::printf("a list of %.1f: %.2f ms (p99 %.2f), %.1f passes, %.0f tokens\n", result->candidates,
              result->ms_p50, result->ms_p99, result->passes, result->columns);
}

}  // namespace

void add_eval_rerank(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<RerankOptions>();
  CLI::App* command = eval.add_subcommand(
      "rerank", "an input method's n best sentences, put in the decoder's order");
  command
      ->add_option("-f,--file", options->file,
                   "lines typed<TAB>meant{<TAB>candidate<TAB>score}; - is standard input")
      ->required();
  command->add_option("--sentences", options->sentences, "only the first N (0: all)");
  command->add_option("--candidates", options->candidates, "of each list, at most")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "Weights are learnt on one half of the sentences and reported on the other, both ways "
      "round.\n"
      "example: laya eval rerank --file nbest.tsv --deep gemma3-270m --candidates 20");
  command->callback([options, &outcome] { evaluate_order(*options, outcome); });
}

}  // namespace laya::apps

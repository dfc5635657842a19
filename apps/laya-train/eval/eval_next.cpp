// `laya eval next`: how high in the list does what is meant stand?
#include <cstdio>
#include <memory>

#include "eval/evaluate_next.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

struct NextCommand : EvalText {
  bool segmented = false;
};

void print_places(const std::string& name, const eval::NextResult::Places& places) {
  if (places.count == 0) {
    return;
  }
  std::printf("  %-30s %7llu  top-1 %s  top-3 %s  MRR %.3f\n", name.c_str(),
              static_cast<unsigned long long>(places.count),
              percent(places.top1, places.top1_interval).c_str(),
              percent(places.top3, places.top3_interval).c_str(), places.mrr);
}

void print_tier(const std::string& name, const eval::NextResult& result) {
  std::printf("%s\n", name.c_str());
  for (std::size_t letters = 0; letters < result.words.size(); ++letters) {
    print_places("words, " + std::to_string(letters) + " letters typed", result.words[letters]);
  }
  print_places("Chinese characters", result.zh_characters);
  print_places("Chinese at word starts", result.zh_words);
  print_places("Chinese, just the word", result.zh_word_exact);
}

void evaluate_places(const NextCommand& options, Outcome& outcome) {
  const bool marked = options.segmented || options.frozen == "zh";
  const Result<std::vector<std::string>> lines =
      lines_of(options, marked ? Words::Marked : Words::AsTyped);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::NextOptions next;
  next.max_lines = options.lines;
  next.segmented = marked ? eval::Segmented::Marked : eval::Segmented::No;
  next.progress = progress();
  const auto measured = measure_tiers<eval::NextResult>(
      *tiers, [&](const predict::Engine& engine) { return evaluate_next(engine, *lines, next); });
  if (!measured) return fail(outcome, measured.error());
  if (options.json) {
    print_json("next", options, eval::to_json(measured->both),
               measured->instant ? eval::to_json(*measured->instant) : "", *tiers);
    return;
  }
  std::printf("%zu lines, lists of %zu; 95 %% intervals\n", measured->both.lines,
              eval::NextResult::kList);
  print_tier(tiers->deep.empty() ? "instant tier" : "with " + tiers->deep, measured->both);
  if (measured->instant) {
    print_tier("instant tier alone", *measured->instant);
  }
  print_passes(*tiers, measured->both.deep);
}

}  // namespace

void add_eval_next(CLI::App& eval, Outcome& outcome) {
  auto next = std::make_shared<NextCommand>();
  CLI::App* command = eval.add_subcommand(
      "next",
      "rank of what is meant: words with 0 to 3 letters typed, Chinese characters and words");
  add_eval_set(*command, *next);
  command->add_flag("--segmented", next->segmented,
                    "spaces between Chinese words mark where they begin and are not typed");
  command->footer(
      "Lists of ten. Chinese words are measured where the text says where they begin: an entry\n"
      "counts if the text goes on with it.\n"
      "example: laya eval next --file mails.txt --lines 600 --json\n"
      "         laya eval next --file cut.txt --segmented");
  command->callback([next, &outcome] { evaluate_places(*next, outcome); });
}

}  // namespace laya::apps

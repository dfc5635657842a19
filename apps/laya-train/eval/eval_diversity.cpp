// `laya eval diversity`: how different are the entries of a list?
#include <cstdio>
#include <memory>

#include "eval/evaluate_diversity.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"
#include "predict/source/field_names.h"

namespace laya::apps {
namespace {

struct DiversityCommand : EvalText {
  std::size_t slots = 5;
  predict::ListTaste taste;
};

void print_tier(const std::string& name, const eval::DiversityResult& result) {
  std::printf(
      "%-20s distance %.2f (%.2f–%.2f) characters, %s of the longer word; two entries one "
      "edit apart in %s of the lists\n",
      name.c_str(), result.distance, result.distance_interval.low, result.distance_interval.high,
      percent(result.share, result.share_interval).c_str(),
      percent(result.near_lists, result.near_interval).c_str());
}

void evaluate(const DiversityCommand& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::DiversityOptions diversity;
  diversity.max_lines = options.lines;
  diversity.slots = options.slots;
  diversity.progress = progress();
  diversity.taste = options.taste;
  const auto measured = measure_tiers<eval::DiversityResult>(
      *tiers,
      [&](const predict::Engine& engine) { return evaluate_diversity(engine, *lines, diversity); });
  if (!measured) return fail(outcome, measured.error());
  if (options.json) {
    print_json("diversity", options, eval::to_json(measured->both),
               measured->instant ? eval::to_json(*measured->instant) : "", *tiers);
    return;
  }
  std::printf("%zu lines, %llu lists of %zu; 95 %% intervals\n", measured->both.lines,
              static_cast<unsigned long long>(measured->both.lists), options.slots);
  print_tier(tiers->deep.empty() ? "instant tier" : "with " + tiers->deep, measured->both);
  if (measured->instant) {
    print_tier("instant tier alone", *measured->instant);
  }
}

}  // namespace

void add_eval_diversity(CLI::App& eval, Outcome& outcome) {
  auto diversity = std::make_shared<DiversityCommand>();
  CLI::App* command = eval.add_subcommand(
      "diversity", "how different the entries of a list are (mean edit distance of every two)");
  add_eval_set(*command, *diversity);
  command->add_option("--slots", diversity->slots, "entries of a list")
      ->check(CLI::Range(std::size_t{2}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  add_taste(*command, diversity->taste);
  command->footer("example: laya eval diversity --file mails.txt --slots 3");
  command->callback([diversity, &outcome] { evaluate(*diversity, outcome); });
}

}  // namespace laya::apps

// `laya eval next-char`: the next Chinese character.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "eval/evaluate_next.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

void print_tier(const std::string& name, const eval::NextCharResult& result) {
  const double all = static_cast<double>(std::max<std::uint64_t>(result.characters, 1));
  std::printf("%-20s top-1 %s, top-3 %s\n", name.c_str(),
              percent(static_cast<double>(result.top1) / all, result.top1_interval).c_str(),
              percent(static_cast<double>(result.top3) / all, result.top3_interval).c_str());
}

void evaluate_characters(const EvalText& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::NextCharOptions next_char;
  next_char.max_lines = options.lines;
  next_char.progress = progress();
  const auto measured = measure_tiers<eval::NextCharResult>(
      *tiers,
      [&](const predict::Engine& engine) { return evaluate_next_char(engine, *lines, next_char); });
  if (!measured) return fail(outcome, measured.error());
  if (options.json) {
    print_json("next-char", options, eval::to_json(measured->both),
               measured->instant ? eval::to_json(*measured->instant) : "", *tiers);
    return;
  }
  std::printf("%zu lines, %llu Chinese characters; 95 %% intervals\n", measured->both.lines,
              static_cast<unsigned long long>(measured->both.characters));
  print_tier(tiers->deep.empty() ? "instant tier" : "with " + tiers->deep, measured->both);
  if (measured->instant) {
    print_tier("instant tier alone", *measured->instant);
  }
  print_passes(*tiers, measured->both.deep);
}

}  // namespace

void add_eval_next_char(CLI::App& eval, Outcome& outcome) {
  auto next = std::make_shared<EvalText>();
  CLI::App* command = eval.add_subcommand(
      "next-char", "how often the next Chinese character is the first, or among the first three");
  add_eval_set(*command, *next);
  command->footer("example: laya eval next-char --file chats.txt --lines 2000");
  command->callback([next, &outcome] { evaluate_characters(*next, outcome); });
}

}  // namespace laya::apps

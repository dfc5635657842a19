#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "eval/evaluate.h"
#include "eval_commands.h"
#include "eval_tiers.h"

namespace laya::apps {
namespace {

void evaluate_characters(const EvalText& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options.file);
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
  const eval::NextCharResult* result = &measured->both;
  const std::optional<eval::NextCharResult>& instant = measured->instant;
  if (options.json) {
    print_json(eval::to_json(*result), instant ? eval::to_json(*instant) : "", *tiers);
    return;
  }
  const double all = static_cast<double>(std::max<std::uint64_t>(result->characters, 1));
  std::printf("%zu lines, %llu Chinese characters: top-1 %.2f %%, top-3 %.2f %%\n", result->lines,
              static_cast<unsigned long long>(result->characters),
              100 * static_cast<double>(result->top1) / all,
              100 * static_cast<double>(result->top3) / all);
  if (instant) {
    std::printf("instant tier alone: top-1 %.2f %%, top-3 %.2f %%\n",
                100 * static_cast<double>(instant->top1) / all,
                100 * static_cast<double>(instant->top3) / all);
  }
  print_passes(*tiers, result->deep);
}

}  // namespace

void add_eval_next_char(CLI::App& eval, Outcome& outcome) {
  auto next = std::make_shared<EvalText>();
  CLI::App* characters = eval.add_subcommand(
      "next-char", "how often the next Chinese character is the first, or among the first three");
  add_eval_text(*characters, *next);
  characters->footer("example: laya eval next-char --file chats.txt --lines 2000");
  characters->callback([next, &outcome] { evaluate_characters(*next, outcome); });
}

}  // namespace laya::apps

// `laya eval ksr`: keystrokes saved.
#include <cstdio>
#include <memory>

#include "eval/evaluate.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"
#include "predict/source/field_names.h"

namespace laya::apps {
namespace {

struct KsrCommand : EvalText {
  std::vector<std::size_t> slots = {1, 3, 5};
  predict::ListTaste taste;
  bool lower_case = false;
  bool ghost = true;
};

void print_tier(const std::string& name, const eval::KsrResult& result) {
  std::printf("%s\n", name.c_str());
  for (const eval::KsrResult::Slot& slot : result.slots) {
    std::printf("  %2zu slots  %s of keystrokes saved, next word %5.2f %%\n", slot.slots,
                percent(slot.saved, slot.saved_interval).c_str(),
                100 * static_cast<double>(slot.next_word_hits) / static_cast<double>(result.words));
  }
  if (result.has_ghost) {
    std::printf("  ghost only %s\n", percent(result.ghost_saved, result.ghost_interval).c_str());
  }
  std::printf("  ceiling   %6.2f %% (a list without end), %.2f %% (one key a word)\n",
              100 * result.oracle_saved, 100 * result.perfect_saved);
  std::printf("  a list    %6.2f ms (p99 %.2f)\n", result.key_us_p50 / 1000,
              result.key_us_p99 / 1000);
}

void evaluate_keystrokes(const KsrCommand& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::KsrOptions ksr;
  ksr.slots = options.slots;
  ksr.max_lines = options.lines;
  ksr.letter_case = options.lower_case ? eval::EvalCase::LowerCased : eval::EvalCase::AsTyped;
  ksr.ghost_only = options.ghost ? eval::GhostOnly::Yes : eval::GhostOnly::No;
  ksr.progress = progress();
  ksr.taste = options.taste;
  const auto measured = measure_tiers<eval::KsrResult>(
      *tiers, [&](const predict::Engine& engine) { return evaluate_ksr(engine, *lines, ksr); });
  if (!measured) return fail(outcome, measured.error());
  if (options.json) {
    print_json("ksr", options, eval::to_json(measured->both),
               measured->instant ? eval::to_json(*measured->instant) : "", *tiers);
    return;
  }
  const eval::KsrResult& both = measured->both;
  std::printf("%zu lines, %llu words, %llu keystrokes without prediction; 95 %% intervals\n",
              both.lines, static_cast<unsigned long long>(both.words),
              static_cast<unsigned long long>(both.keystrokes));
  print_tier(tiers->deep.empty() ? "instant tier" : "with " + tiers->deep, both);
  if (measured->instant) {
    print_tier("instant tier alone", *measured->instant);
  }
  print_passes(*tiers, both.deep);
}

}  // namespace

void add_eval_ksr(CLI::App& eval, Outcome& outcome) {
  auto ksr = std::make_shared<KsrCommand>();
  CLI::App* command = eval.add_subcommand(
      "ksr", "keystrokes saved, by list length; accepting costs one key and brings the space");
  add_eval_set(*command, *ksr);
  command->add_option("--slots", ksr->slots, "list lengths to measure")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  add_taste(*command, ksr->taste);
  command->add_flag("--lower-case", ksr->lower_case, "type the text in lower case");
  command->add_flag("--ghost,!--no-ghost", ksr->ghost,
                    "type it once more with the ghost alone (on unless --no-ghost; slow)");
  command->footer(
      "The text is typed once for each list length and once with the ghost alone. Two ceilings "
      "are\n"
      "given: what a list without end would save, and one key for every word.\n"
      "example: laya eval ksr --file mails.txt --slots 1,3,5 --lines 600 --json\n"
      "         laya eval ksr --frozen en --no-ghost");
  command->callback([ksr, &outcome] { evaluate_keystrokes(*ksr, outcome); });
}

}  // namespace laya::apps

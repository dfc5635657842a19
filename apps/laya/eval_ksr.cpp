#include <cstdio>
#include <memory>
#include <optional>

#include "eval/evaluate.h"
#include "eval_commands.h"
#include "eval_tiers.h"
#include "predict/reply.h"

namespace laya::apps {
namespace {

struct KsrCommand : EvalText {
  std::vector<std::size_t> slots = {1, 3, 5};
  bool lower_case = false;
};

void evaluate_keystrokes(const KsrCommand& options, Outcome& outcome) {
  const Result<std::vector<std::string>> lines = lines_of(options.file);
  if (!lines) return fail(outcome, lines.error());
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::KsrOptions ksr;
  ksr.slots = options.slots;
  ksr.max_lines = options.lines;
  ksr.letter_case = options.lower_case ? eval::EvalCase::LowerCased : eval::EvalCase::AsTyped;
  ksr.progress = progress();
  const auto measured = measure_tiers<eval::KsrResult>(
      *tiers, [&](const predict::Engine& engine) { return evaluate_ksr(engine, *lines, ksr); });
  if (!measured) return fail(outcome, measured.error());
  const eval::KsrResult* result = &measured->both;
  const std::optional<eval::KsrResult>& instant = measured->instant;
  if (options.json) {
    print_json(eval::to_json(*result), instant ? eval::to_json(*instant) : "", *tiers);
    return;
  }
  std::printf("%zu lines, %llu words, %llu keystrokes without prediction\n", result->lines,
              static_cast<unsigned long long>(result->words),
              static_cast<unsigned long long>(result->keystrokes));
  for (std::size_t i = 0; i < result->slots.size(); ++i) {
    const eval::KsrResult::Slot& slot = result->slots[i];
    std::printf(
        "%2zu slots: %5.2f %% of keystrokes saved, next word %5.2f %%", slot.slots,
        100 * slot.saved,
        100 * static_cast<double>(slot.next_word_hits) / static_cast<double>(result->words));
    if (instant) {
      std::printf("   (instant tier alone %5.2f %%)", 100 * instant->slots[i].saved);
    }
    std::printf("\n");
  }
  print_passes(*tiers, result->deep);
}

}  // namespace

void add_eval_ksr(CLI::App& eval, Outcome& outcome) {
  auto ksr = std::make_shared<KsrCommand>();
  CLI::App* keystrokes = eval.add_subcommand(
      "ksr", "keystrokes saved, by list length; accepting costs one key and brings the space");
  add_eval_text(*keystrokes, *ksr);
  keystrokes->add_option("--slots", ksr->slots, "list lengths to measure")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  keystrokes->add_flag("--lower-case", ksr->lower_case, "type the text in lower case");
  keystrokes->footer("example: laya eval ksr --file mails.txt --slots 1,3,5 --lines 600 --json");
  keystrokes->callback([ksr, &outcome] { evaluate_keystrokes(*ksr, outcome); });
}

}  // namespace laya::apps

// `laya eval replay`: what would the predictions have given to what somebody really typed?
#include <cstdio>
#include <iostream>
#include <memory>

#include "eval/evaluate_replay.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"
#include "predict/source/field_names.h"

namespace laya::apps {
namespace {

struct ReplayCommand : EvalText {
  std::vector<std::size_t> slots = {1, 3, 5};
  bool ghost = true;
};

void print_tier(const std::string& name, const eval::ReplayResult& result) {
  std::printf("%s\n", name.c_str());
  for (const eval::ReplayResult::Slot& slot : result.slots) {
    std::printf("  %2zu slots  %s of the keys saved, %llu picks, %llu of them over a slip\n",
                slot.slots, percent(slot.saved, slot.saved_interval).c_str(),
                static_cast<unsigned long long>(slot.picks),
                static_cast<unsigned long long>(slot.mended));
  }
  if (result.has_ghost) {
    std::printf("  ghost     shown %s, precision %s, harm %s\n",
                percent(result.shown, result.shown_interval).c_str(),
                percent(result.precision, result.precision_interval).c_str(),
                percent(result.harm, result.harm_interval).c_str());
  }
}

void evaluate(const ReplayCommand& options, Outcome& outcome) {
  const Result<std::string> log = read_text(options.file);
  if (!log) return fail(outcome, log.error());
  Result<std::vector<eval::KeySession>> sessions = eval::parse_key_log(*log);
  if (!sessions) {
    return fail(outcome, {sessions.error().code, options.file + ": " + sessions.error().message});
  }
  if (options.lines != 0 && sessions->size() > options.lines) {
    sessions->resize(options.lines);
  }
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::ReplayOptions replay;
  replay.slots = options.slots;
  replay.ghost = options.ghost ? eval::ReplayGhost::Yes : eval::ReplayGhost::No;
  replay.progress = progress();
  const auto measured = measure_tiers<eval::ReplayResult>(
      *tiers,
      [&](const predict::Engine& engine) { return evaluate_replay(engine, *sessions, replay); });
  if (!measured) return fail(outcome, measured.error());
  if (options.json) {
    nlohmann::ordered_json head = result_head("replay", options);
    head["set"] = "replay";
    std::cout << to_line(result_line(std::move(head), eval::to_json(measured->both),
                                     measured->instant ? eval::to_json(*measured->instant) : "",
                                     *tiers))
              << std::endl;
    return;
  }
  std::printf("%zu fields, %llu keys, %.1f %% of them while the text was wrong; 95 %% intervals\n",
              measured->both.sessions, static_cast<unsigned long long>(measured->both.keys),
              100 * measured->both.wrong_keys);
  print_tier(tiers->deep.empty() ? "instant tier" : "with " + tiers->deep, measured->both);
  if (measured->instant) {
    print_tier("instant tier alone", *measured->instant);
  }
}

}  // namespace

void add_eval_replay(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<ReplayCommand>();
  CLI::App* command = eval.add_subcommand(
      "replay",
      "keys saved and the ghost on a key log: text as it was really typed, slips and all");
  command
      ->add_option("-f,--file", options->file,
                   "key log (src/eval/KEYLOG.md; laya simulate writes them); - is standard input")
      ->required();
  command->add_option("--lines", options->lines, "only the first N fields (0: all)");
  command->add_flag("--json", options->json, "one JSON object on one line");
  command->add_option("--slots", options->slots, "list lengths to measure")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{1}, predict::Reply::kMaxCandidates))
      ->capture_default_str();
  command->add_flag("--ghost,!--no-ghost", options->ghost, "judge the ghost too (slow)");
  add_model_options(*command, options->model);
  command->footer(
      "This is the replay set: never the same figure as that of a frozen text.\n"
      "example: laya simulate mails.txt --out keys.jsonl && laya eval replay --file keys.jsonl");
  command->callback([options, &outcome] { evaluate(*options, outcome); });
}

}  // namespace laya::apps

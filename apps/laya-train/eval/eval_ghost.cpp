// `laya eval ghost`: is the grey phrase worth its glance?
#include <cstdio>
#include <memory>
#include <optional>

#include "eval/evaluate_ghost.h"
#include "eval/frozen_set.h"
#include "eval/ghost_cases.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

struct GhostCommand : EvalText {
  std::string cases;
  bool cases_only = false;
};

struct Judged {
  std::optional<eval::GhostResult> text;
  eval::GhostCasesResult cases;
};

std::string judged_json(const Judged& judged) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (judged.text) {
    json = nlohmann::ordered_json::parse(eval::to_json(*judged.text), nullptr, false);
  }
  json["cases"] = nlohmann::ordered_json::parse(eval::to_json(judged.cases), nullptr, false);
  return to_line(json);
}

void print_text(const eval::GhostResult& result) {
  const auto line = [](const char* name, const eval::GhostResult::Share& share, const char* what) {
    std::printf("  %-12s %s %s\n", name, percent(share.value, share.interval).c_str(), what);
  };
  line("shown", result.shown, "of the keys");
  line("precision", result.precision, "of the shown are right to their end");
  line("useful", result.useful, "of the shown have a first word that is right");
  line("harm", result.harm, "of the keys show a ghost that is not right to its end");
  std::printf("  %-12s %.1f of %.1f characters of a shown one could be accepted\n", "length",
              result.accepted_graphemes, result.shown_graphemes);
  std::printf("  %-12s %.2f ms (p99 %.2f)\n", "a key", result.key_us_p50 / 1000,
              result.key_us_p99 / 1000);
}

void print_cases(const eval::GhostCasesResult& result) {
  const auto print = [](const char* name, const eval::GhostCasesResult::Kind& kind) {
    std::printf("  %-22s %3zu of %3zu as expected, %zu wrong, %zu silent, score %.2f\n", name,
                kind.as_expected, kind.cases, kind.wrong, kind.silent,
                kind.points / static_cast<double>(kind.cases));
  };
  for (const auto& [name, kind] : result.kinds) {
    print(name.c_str(), kind);
  }
  print("all cases", result.all);
}

void evaluate(const GhostCommand& options, Outcome& outcome) {
  std::string file;
  if (!options.cases.empty()) {
    Result<std::string> text = read_text(options.cases);
    if (!text) return fail(outcome, text.error());
    file = std::move(text).value();
  }
  const auto cases = eval::parse_ghost_cases(options.cases.empty() ? eval::frozen_ghost_cases()
                                                                   : std::string_view(file));
  if (!cases) {
    return fail(outcome, {cases.error().code, options.cases + ": " + cases.error().message});
  }
  std::vector<std::string> lines;
  if (!options.cases_only) {
    Result<std::vector<std::string>> given = lines_of(options);
    if (!given) return fail(outcome, given.error());
    lines = std::move(given).value();
  }
  const Result<Tiers> tiers = open_tiers(options.model);
  if (!tiers) return fail(outcome, tiers.error());
  eval::GhostOptions ghost;
  ghost.max_lines = options.lines;
  ghost.progress = progress();
  const auto measured =
      measure_tiers<Judged>(*tiers, [&](const predict::Engine& engine) -> Result<Judged> {
        Judged judged;
        if (!options.cases_only) {
          Result<eval::GhostResult> text = evaluate_ghost(engine, lines, ghost);
          if (!text) return std::move(text).error();
          judged.text = std::move(text).value();
        }
        Result<eval::GhostCasesResult> asked = evaluate_ghost_cases(engine, *cases);
        if (!asked) return std::move(asked).error();
        judged.cases = std::move(asked).value();
        return judged;
      });
  if (!measured) return fail(outcome, measured.error());
  if (options.json) {
    print_json("ghost", options, judged_json(measured->both),
               measured->instant ? judged_json(*measured->instant) : "", *tiers);
    return;
  }
  const auto print = [](const std::string& name, const Judged& judged) {
    if (judged.text) {
      std::printf("%s: %zu lines, %llu keys; 95 %% intervals\n", name.c_str(), judged.text->lines,
                  static_cast<unsigned long long>(judged.text->keys));
      print_text(*judged.text);
    } else {
      std::printf("%s\n", name.c_str());
    }
    print_cases(judged.cases);
  };
  print(tiers->deep.empty() ? "instant tier" : "with " + tiers->deep, measured->both);
  if (measured->instant) {
    print("instant tier alone", *measured->instant);
  }
}

}  // namespace

void add_eval_ghost(CLI::App& eval, Outcome& outcome) {
  auto ghost = std::make_shared<GhostCommand>();
  CLI::App* command = eval.add_subcommand(
      "ghost",
      "the grey phrase: how often shown, how often right, and is it silent where it must?");
  add_eval_set(*command, *ghost);
  command->add_option("--cases", ghost->cases,
                      "cases kind<TAB>before<TAB>after<TAB>expected (those that ship)");
  command->add_flag("--cases-only", ghost->cases_only, "no text, only the cases");
  command->footer(
      "A text is typed key by key and nothing is accepted; the ghost is asked for at each key.\n"
      "precision: of the shown, those right to their end; harm: keys with a ghost that is not.\n"
      "The cases say where it must be silent (inside words, gibberish, code, numbers, nothing\n"
      "typed), what it must not repeat, and what anybody would expect; --json lists each failure.\n"
      "example: laya eval ghost --file mails.txt --lines 600\n"
      "         laya eval ghost --cases-only");
  command->callback([ghost, &outcome] { evaluate(*ghost, outcome); });
}

}  // namespace laya::apps

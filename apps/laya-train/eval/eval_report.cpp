// `laya eval report`: one page that shows what was measured.
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/atomic_file.h"
#include "eval/evaluate.h"
#include "eval/evaluate_bpc.h"
#include "eval/evaluate_diversity.h"
#include "eval/evaluate_ghost.h"
#include "eval/evaluate_next.h"
#include "eval/frozen_set.h"
#include "eval/ghost_cases.h"
#include "eval/report_page.h"
#include "laya-train/eval/eval_commands.h"
#include "laya-train/eval/eval_tiers.h"

namespace laya::apps {
namespace {

struct ReportCommand {
  setup::ModelOptions model;
  std::string out;
  std::string save;
  std::vector<std::string> results;
  std::vector<std::string> against;
  std::size_t lines = 0;
  bool json = false;
};

/// Everything of the frozen set, as the JSON lines that the single commands print.
class FrozenRun {
 public:
  FrozenRun(const Tiers& tiers, std::size_t lines) : tiers_(tiers), lines_(lines) {}

  Result<std::string> run() {
    for (const char* language : {"en", "zh"}) {
      EvalText text;
      text.frozen = language;
      const Result<std::vector<std::string>> typed = lines_of(text);
      const Result<std::vector<std::string>> marked = lines_of(text, Words::Marked);
      if (!typed) return typed.error();
      if (!marked) return marked.error();
      const bool chinese = text.frozen == "zh";
      Status done;
      if (!chinese) {
        done = add<eval::KsrResult>("ksr", text, [&](const predict::Engine& engine) {
          return eval::evaluate_ksr(
              engine, *typed,
              {.max_lines = lines_, .progress = progress(), .ghost_only = eval::GhostOnly::Yes});
        });
        if (!done) return done.error();
      }
      done = add<eval::NextResult>("next", text, [&](const predict::Engine& engine) {
        return eval::evaluate_next(
            engine, *marked,
            {.max_lines = lines_,
             .segmented = chinese ? eval::Segmented::Marked : eval::Segmented::No,
             .progress = progress()});
      });
      if (!done) return done.error();
      done = add<eval::GhostResult>("ghost", text, [&](const predict::Engine& engine) {
        return eval::evaluate_ghost(engine, *typed, {.max_lines = lines_, .progress = progress()});
      });
      if (!done) return done.error();
      done = add<eval::DiversityResult>("diversity", text, [&](const predict::Engine& engine) {
        return eval::evaluate_diversity(engine, *typed,
                                        {.max_lines = lines_, .progress = progress()});
      });
      if (!done) return done.error();
      const Result<eval::BpcResult> bits =
          eval::evaluate_bpc(*tiers_.both, *typed, {.max_lines = lines_, .progress = progress()});
      if (!bits) return bits.error();
      put("bpc", text, eval::to_json(*bits), "");
    }
    const auto cases = eval::parse_ghost_cases(eval::frozen_ghost_cases());
    if (!cases) return cases.error();
    const auto judged = measure_tiers<eval::GhostCasesResult>(
        tiers_,
        [&](const predict::Engine& engine) { return eval::evaluate_ghost_cases(engine, *cases); });
    if (!judged) return judged.error();
    EvalText text;
    text.frozen = "cases";
    const auto inside = [](const eval::GhostCasesResult& result) {
      return "{\"cases\":" + eval::to_json(result) + "}";
    };
    put("ghost", text, inside(judged->both), judged->instant ? inside(*judged->instant) : "");
    return std::move(out_);
  }

 private:
  template <typename T, typename Measure>
  Status add(const std::string& measure, const EvalText& text, const Measure& evaluate) {
    const auto measured = measure_tiers<T>(tiers_, evaluate);
    if (!measured) return measured.error();
    put(measure, text, eval::to_json(measured->both),
        measured->instant ? eval::to_json(*measured->instant) : "");
    return {};
  }

  void put(const std::string& measure, const EvalText& text, const std::string& both,
           const std::string& instant) {
    out_ += to_line(result_line(result_head(measure, text), both, instant, tiers_)) + "\n";
  }

  const Tiers& tiers_;
  std::size_t lines_;
  std::string out_;
};

Result<std::string> read_all(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    Result<std::string> text = read_text(path);
    if (!text) return text;
    const auto parsed = eval::parse_results(*text);  // so that an error names the file
    if (!parsed) return Error{parsed.error().code, path + ": " + parsed.error().message};
    if (parsed->figures.empty()) {
      return Error{ErrorCode::BadArgument, path + ": has no figure of laya eval … --json"};
    }
    all += *text + "\n";
  }
  return all;
}

void write_report(const ReportCommand& options, Outcome& outcome) {
  Result<std::string> measured = read_all(options.results);
  if (!measured) return fail(outcome, measured.error());
  const Result<std::string> old = read_all(options.against);
  if (!old) return fail(outcome, old.error());
  if (options.results.empty()) {
    const Result<Tiers> tiers = open_tiers(options.model);
    if (!tiers) return fail(outcome, tiers.error());
    measured = FrozenRun(*tiers, options.lines).run();
    if (!measured) return fail(outcome, measured.error());
  }
  const auto now = eval::parse_results(*measured);
  if (!now) return fail(outcome, now.error());
  const auto before = eval::parse_results(*old);
  if (!before) return fail(outcome, before.error());
  if (!options.save.empty()) {
    if (Status status = base::write_file(options.save, *measured); !status) {
      return fail(outcome, status.error());
    }
  }
  const std::string page = eval::report_page(*now, *before);
  if (Status status = base::write_file(options.out, page); !status) {
    return fail(outcome, status.error());
  }
  if (options.json) {
    std::cout << to_line({{"page", options.out},
                          {"bytes", page.size()},
                          {"figures", now->figures.size()},
                          {"before", before->figures.size()}})
              << std::endl;
  } else {
    std::printf("%s: %zu figures, %zu KB\n", options.out.c_str(), now->figures.size(),
                page.size() / 1024);
  }
}

}  // namespace

void add_eval_report(CLI::App& eval, Outcome& outcome) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* command = eval.add_subcommand(
      "report", "one HTML page with plots: quality against time, sources, the last release");
  command->add_option("-o,--out", options->out, "the page to write")->required();
  command->add_option(
      "results", options->results,
      "JSON lines that laya eval … --json printed; none: the frozen set is measured");
  command
      ->add_option("--against", options->against,
                   "results of an earlier release, drawn beside (see --save); may be repeated")
      ->allow_extra_args(false);
  command->add_option("--save", options->save, "write the results shown as JSON lines too");
  command->add_option("--lines", options->lines,
                      "of the frozen set, only the first N lines (0: all)");
  command->add_flag("--json", options->json, "one JSON object on one line");
  add_model_options(*command, options->model);
  command->footer(
      "The page holds all it needs and opens without a network.\n"
      "example: laya eval report --out page.html --save now.jsonl --against 0.1.0.jsonl\n"
      "         laya eval ksr --file mails.txt --json >> mails.jsonl\n"
      "         laya eval report --out mails.html mails.jsonl");
  command->callback([options, &outcome] { write_report(*options, outcome); });
}

}  // namespace laya::apps

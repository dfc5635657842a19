#include "laya-train/eval/eval_command.h"

#include "laya-train/eval/eval_commands.h"

namespace laya::apps {

void add_eval_command(CLI::App& app, Outcome& outcome) {
  CLI::App* eval = app.add_subcommand(
      "eval",
      "how good are the predictions on a text? (keystrokes, characters, input-method sentences)");
  eval->require_subcommand(1);
  eval->footer(
      "With a decoder (laya model list) both tiers are measured, and the instant one alone.\n"
      "example: laya eval ksr --file mails.txt --lines 600");
  add_eval_ksr(*eval, outcome);
  add_eval_next(*eval, outcome);
  add_eval_next_char(*eval, outcome);
  add_eval_ghost(*eval, outcome);
  add_eval_diversity(*eval, outcome);
  add_eval_bpc(*eval, outcome);
  add_eval_replay(*eval, outcome);
  add_eval_correct(*eval, outcome);
  add_eval_peers(*eval, outcome);
  add_eval_pinyin(*eval, outcome);
  add_eval_report(*eval, outcome);
  add_eval_rerank(*eval, outcome);
  add_eval_mixing(*eval, outcome);
}

}  // namespace laya::apps

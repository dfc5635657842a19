// `laya-train`: trains, evaluates, compares. `laya` runs it for these commands.
#include <string>
#include <string_view>

#include "common/program.h"
#include "laya-train/bench/bench_command.h"
#include "laya-train/bench/training_probe.h"
#include "laya-train/eval/compare_command.h"
#include "laya-train/eval/eval_command.h"
#include "laya-train/eval/simulate_command.h"
#include "laya-train/train/quantize_command.h"
#include "laya-train/train/train_command.h"
#include "laya-train/train/vocabulary_command.h"

int main(int argc, char** argv) {
  using namespace laya::apps;
  const std::string_view called = argc > 0 ? argv[0] : "";
  CLI::App app{"Trains and measures models for Laya."};
  Outcome outcome;
  // Run by `laya train …` it speaks as the command that was typed.
  outcome.program = called.ends_with("laya") ? "laya" : "laya-train";
  app.name(outcome.program);
  app.footer(
      "Every command explains itself: laya-train COMMAND --help. Exit codes: 0 ok, 1 failed, 2 "
      "usage.");
  add_train_command(app, outcome);
  add_eval_command(app, outcome);
  add_simulate_command(app, outcome);
  add_quantize_command(app, outcome);
  add_compare_command(app, outcome);
  add_vocabulary_command(app, outcome);
  add_training_bench_command(app, outcome);
  add_probe_command(app, outcome);
  return run_program(app, outcome, argc, argv);
}

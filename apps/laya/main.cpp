// `laya`: the command line. What is laya-train's is handed to that program.
#include <cstddef>
#include <span>

#include "common/program.h"
#include "laya/bench/bench_command.h"
#include "laya/complete_command.h"
#include "laya/doctor_command.h"
#include "laya/models/convert_command.h"
#include "laya/models/inspect_command.h"
#include "laya/models/model_command.h"
#include "laya/replay_command.h"
#include "laya/training_program.h"
#include "laya/type/type_command.h"

namespace {

constexpr const char* kExamples =
    "Start here:\n"
    "  laya type                               type, with a ghost in grey and a list to pick from\n"
    "  laya complete --context 'see you tom'   what would be offered here\n"
    "  laya replay                             watch a short text being typed\n"
    "  laya doctor                             what this machine has, and what to do about it\n"
    "Every command explains itself: laya COMMAND --help. Exit codes: 0 ok, 1 failed, 2 usage.";

}  // namespace

int main(int argc, char** argv) {
  using namespace laya::apps;
  Outcome outcome;
  if (is_training_command(std::span(argv, static_cast<std::size_t>(argc)))) {
    fail(outcome, run_training_program(argv));
    return outcome.exit_code;
  }
  CLI::App app{
      "Laya decides, on this machine, what you are about to type. Nothing typed leaves it."};
  app.name("laya");
  app.footer(kExamples);
  add_type_command(app, outcome);
  add_complete_command(app, outcome);
  add_replay_command(app, outcome);
  add_bench_command(app, outcome);
  add_model_command(app, outcome);
  add_convert_command(app, outcome);
  add_inspect_command(app, outcome);
  add_doctor_command(app, outcome);
  add_training_commands(app);
  return run_program(app, outcome, argc, argv);
}

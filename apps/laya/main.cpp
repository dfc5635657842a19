// `laya`: the command line. Parses, hands over to one command, turns its outcome into an exit code.
// Exceptions stop here.
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "common/command.h"
#include "laya-train/eval/compare_command.h"
#include "laya-train/eval/eval_command.h"
#include "laya-train/eval/simulate_command.h"
#include "laya-train/train/quantize_command.h"
#include "laya-train/train/train_command.h"
#include "laya-train/train/vocabulary_command.h"
#include "laya/bench/bench_command.h"
#include "laya/complete_command.h"
#include "laya/doctor_command.h"
#include "laya/models/convert_command.h"
#include "laya/models/inspect_command.h"
#include "laya/models/model_command.h"
#include "laya/replay_command.h"
#include "laya/type/type_command.h"

namespace {

constexpr const char* kExamples =
    "Start here:\n"
    "  laya type                               type, with a ghost in grey and a list to pick from\n"
    "  laya complete --context 'see you tom'   what would be offered here\n"
    "  laya replay                             watch a short text being typed\n"
    "  laya doctor                             what this machine has, and what to do about it\n"
    "Every command explains itself: laya COMMAND --help. Exit codes: 0 ok, 1 failed, 2 usage.";

/// One line that names the command whose help answers. Arguments that may be somebody's text are
/// not repeated.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view first) {
  const auto chosen = app.get_subcommands();
  std::string command;
  for (auto below = chosen; !below.empty(); below = below.front()->get_subcommands()) {
    command += below.front()->get_name() + " ";
  }
  std::string what = error.what();
  if (chosen.empty() && !first.starts_with("-")) {
    what = "there is no command of that name";
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extra = app.remaining(true);
    what = !extra.empty() && extra.front().starts_with("-")
               ? "there is no option " + extra.front()
               : "there is an argument too many; a text with spaces needs quotes";
  }
  std::replace(what.begin(), what.end(), '\n', ' ');
  return "laya: " + what + "; see: laya " + command + "--help";
}

}  // namespace

int main(int argc, char** argv) {
  using namespace laya::apps;
  try {
    CLI::App app{
        "Laya decides, on this machine, what you are about to type. Nothing typed leaves it."};
    app.name("laya");
    app.footer(kExamples);
    app.require_subcommand(1);
    app.set_help_all_flag("--help-all", "help of every command");
    app.set_version_flag("-V,--version", version_text(), "print the version and exit");
    app.failure_message(CLI::FailureMessage::simple);

    Outcome outcome;
    add_type_command(app, outcome);
    add_complete_command(app, outcome);
    add_replay_command(app, outcome);
    add_bench_command(app, outcome);
    add_eval_command(app, outcome);
    add_simulate_command(app, outcome);
    add_model_command(app, outcome);
    add_inspect_command(app, outcome);
    add_doctor_command(app, outcome);
    add_train_command(app, outcome);
    add_convert_command(app, outcome);
    add_compare_command(app, outcome);
    add_quantize_command(app, outcome);
    add_vocabulary_command(app, outcome);
    refuse_negative_counts(app);

    if (argc < 2) {
      std::cout << app.help();
      return kUsage;
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return app.exit(CLI::CallForHelp());
    } catch (const CLI::CallForAllHelp&) {
      return app.exit(CLI::CallForAllHelp());
    } catch (const CLI::CallForVersion& call) {
      return app.exit(call);
    } catch (const CLI::ParseError& error) {
      std::cerr << usage_error(app, error, argv[1]) << std::endl;
      return kUsage;
    }
    return outcome.exit_code;
  } catch (const std::exception& error) {
    std::cerr << "laya: internal error, please report: " << error.what() << std::endl;
    return kFailed;
  }
}

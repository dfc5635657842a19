#include "common/program.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "common/program_main.h"
#include "simd/dispatch.h"

namespace laya::apps {
namespace {

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
  return app.get_name() + ": " + what + "; see: " + app.get_name() + " " + command + "--help";
}

int parse_and_run(CLI::App& app, Outcome& outcome, int argc, char** argv) {
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "help of every command");
  app.set_version_flag("-V,--version", version_text(app.get_name()), "print the version and exit");
  app.failure_message(CLI::FailureMessage::simple);
  refuse_negative_counts(app);
  if (argc < 2) {
    std::cout << app.help();
    return kUsage;
  }
  if (const Status setting = simd::check_kernels_setting(); !setting) {
    fail(outcome, setting.error());
    return outcome.exit_code;
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
}

}  // namespace

int run_program(CLI::App& app, Outcome& outcome, int argc, char** argv) {
  return run_main(outcome.program, [&] { return parse_and_run(app, outcome, argc, argv); });
}

}  // namespace laya::apps

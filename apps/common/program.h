// What the `main` of every program does once its commands are listed.
#pragma once

#include "common/command.h"

namespace laya::apps {

/// Parses, hands over to one command, turns its outcome into an exit code. Help and usage errors
/// name the program as app.get_name() does. Runs in run_main().
int run_program(CLI::App& app, Outcome& outcome, int argc, char** argv);

}  // namespace laya::apps

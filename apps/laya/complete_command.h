// `laya complete`: what would be offered at this place? Once, for people and for programs.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_complete_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

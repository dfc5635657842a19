// `laya simulate`: text typed as people type it, written as a key log, with training pairs.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_simulate_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

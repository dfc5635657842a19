// laya model: the pretrained models of this machine.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_model_command(CLI::App& app, Outcome& outcome);

/// Its subcommands `get` and `add` (model_get_command.cpp).
void add_model_get_commands(CLI::App& model, Outcome& outcome);

}  // namespace laya::apps

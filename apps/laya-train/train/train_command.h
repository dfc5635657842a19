// `laya train …`: parses what a person asks for, shows how it goes, and leaves the work to
// src/train.
#pragma once

#include <CLI/CLI.hpp>

#include "common/command.h"

namespace laya::apps {

/// Adds `train` with its subcommands `gru`, `export`, `ngram` and `vocab`.
void add_train_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

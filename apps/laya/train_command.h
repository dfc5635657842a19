// `laya train …`: parses what a person asks for, shows how it goes, and leaves the work to
// src/train.
#pragma once

#include <CLI/CLI.hpp>

namespace laya::apps {

/// Adds `train` with its subcommands `gru`, `export` and `vocab`. `exit_code` becomes 1 when one
/// fails; it must outlive the parse.
void add_train_command(CLI::App& app, int& exit_code);

}  // namespace laya::apps

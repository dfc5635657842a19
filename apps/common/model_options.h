// The options that say which model a command predicts with, and opening it.
#pragma once

#include <CLI/CLI.hpp>

#include "setup/model_lookup.h"

namespace laya::apps {

/// The same options in every command that predicts.
void add_model_options(CLI::App& command, setup::ModelOptions& options);

/// setup::find_engine(); its warning goes to standard error.
Result<std::shared_ptr<const predict::Engine>> open_engine(
    const setup::ModelOptions& options, predict::DeepLoading loading = predict::DeepLoading::Now);

}  // namespace laya::apps

// What this machine reaches in training; a stub file stands in where the trainer is not built.
#pragma once

#include "common/command.h"
#include "common/training_probe.h"

namespace laya::apps {

/// Measures now, about 0.2 s for each rate. Never throws.
TrainingProbe measure_training();

/// `probe`, asked by `laya doctor`; it does not stand in the help.
void add_probe_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

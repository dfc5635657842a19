// `laya-train`, the program that trains and evaluates: `laya` runs it for the commands that are
// its, so that `laya` itself needs no MLX, no BLAS and none of their memory.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "common/command.h"
#include "common/training_probe.h"

namespace laya::apps {

/// Whether `laya <arguments>` is a command of laya-train: `train …`, `bench peers …`.
bool is_training_command(std::span<char* const> arguments);

/// Lists those commands in the help, under a heading of their own.
void add_training_commands(CLI::App& app);
/// The same for what stands below `laya bench`.
void add_training_benches(CLI::App& bench);

/// Beside this program, or else in $PATH; "" where it is not.
std::string find_training_program();

/// Becomes laya-train with the same arguments (argv[0] too, so that it names itself as it was
/// called). Comes back only where that cannot be: the error names what brings it.
Error run_training_program(char** argv);

/// What it says about MLX and oneDNN on this machine: about a second.
TrainingProbe probe_training();

}  // namespace laya::apps

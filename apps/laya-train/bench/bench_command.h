// `laya-train bench`: what is timed with libraries that `laya` does not hold.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_training_bench_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

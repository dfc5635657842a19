// `laya bench`: how fast is it on this machine, against the floor measured in the same run?
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_bench_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

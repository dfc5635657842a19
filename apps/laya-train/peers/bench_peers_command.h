// laya bench peers.
#pragma once

#include "common/command.h"

namespace laya::apps {

/// Adds it below `bench`.
void add_bench_peers_command(CLI::App& bench, Outcome& outcome);

}  // namespace laya::apps

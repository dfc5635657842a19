// `laya bench decision`: how long a small decision takes, against reading its weights.
#pragma once

#include <CLI/CLI.hpp>

#include "common/command.h"

namespace laya::apps {

/// `outcome` must outlive the parse.
void add_bench_decision_command(CLI::App& bench, Outcome& outcome);

}  // namespace laya::apps

// `laya replay`: a short real text typed by itself, key by key: what was offered, what was taken,
// what it saved.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_replay_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

// `laya type`: type, with a ghost in grey and a list to pick from.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_type_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

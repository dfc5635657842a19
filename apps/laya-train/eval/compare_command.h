// `laya compare`: two .laya files of one decoder, on text: how far apart, and are the same
// candidates offered?
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_compare_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

// `laya quantize`: a small file from an fp32 model, and what that costs.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_quantize_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

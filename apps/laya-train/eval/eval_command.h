// `laya eval`: how good are the predictions on a text that the model has not seen?
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_eval_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

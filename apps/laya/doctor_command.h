// `laya doctor`: what does this machine have, what is slow, what is missing, and what to do about
// it?
#pragma once

#include "common/command.h"

namespace laya::apps {

/// Exit code 0 when predicting works here (slow or without training included), 1 when it does not.
void add_doctor_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

// `laya convert`: somebody else's checkpoint (GGUF, Hugging Face, MLX, llama2.c, PyTorch) as a
// .laya, and what that costs.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_convert_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

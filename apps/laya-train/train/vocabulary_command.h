// `laya vocabulary`: makes vocabulary.bin from a sentencepiece model, and shows how a text is cut.
#pragma once

#include "common/command.h"

namespace laya::apps {

void add_vocabulary_command(CLI::App& app, Outcome& outcome);

}  // namespace laya::apps

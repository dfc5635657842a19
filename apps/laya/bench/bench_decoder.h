// `laya bench decoder`: a decoder of the size that would be trained here, before there is one.
#pragma once

#include "common/command.h"

namespace laya::apps {

/// `outcome` must outlive the parse.
void add_bench_decoder_command(CLI::App& bench, Outcome& outcome);

}  // namespace laya::apps
